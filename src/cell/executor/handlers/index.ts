import type { CoreActionName } from '../../../protocol/index.js';
import type { Handler } from '../handler-context.js';
import { getEnv, setEnv, stats, unsetEnv } from './environment-handlers.js';
import {
  getProcess,
  listProcesses,
  signalProcess,
  startProcess,
  waitProcess,
  writeProcess,
} from './process-handlers.js';
import { closeSession, listSessions, readOutput, run } from './run-handlers.js';

const files = group(() => import('./file-handlers.js'));
const edits = group(() => import('./edit-handlers.js'));
const searches = group(() => import('./search-handlers.js'));

/** One handler for each action; a missing one does not compile. */
export const handlers: { readonly [Name in CoreActionName]: Handler<Name> } = {
  run,
  read_output: readOutput,
  list_sessions: listSessions,
  close_session: closeSession,
  read: files.handler('read'),
  write: files.handler('write'),
  edit: edits.handler('edit'),
  list: files.handler('list'),
  stat: files.handler('stat'),
  make_dir: files.handler('makeDir'),
  remove: files.handler('remove'),
  move: files.handler('move'),
  copy: files.handler('copy'),
  watch: files.handler('watch'),
  glob: searches.handler('glob'),
  grep: searches.handler('grep'),
  start_process: startProcess,
  write_process: writeProcess,
  list_processes: listProcesses,
  get_process: getProcess,
  signal_process: signalProcess,
  wait_process: waitProcess,
  get_env: getEnv,
  set_env: setEnv,
  unset_env: unsetEnv,
  stats,
};

export async function loadHandlers(): Promise<void> {
  await Promise.all([files, edits, searches].map((lazy) => lazy.load()));
}

/** Handlers that load with the first of their actions: a cell starts sooner, and many never need them. */
function group<Module extends Readonly<Record<string, (...parameters: never[]) => unknown>>>(
  importModule: () => Promise<Module>,
) {
  let loaded: Module | undefined;
  const load = async () => {
    loaded ??= await importModule();
    return loaded;
  };
  return {
    load,
    handler<Key extends keyof Module>(key: Key): Module[Key] {
      const handle = (...parameters: Parameters<Module[Key]>) =>
        loaded === undefined
          ? load().then((module) => module[key]?.(...parameters))
          : loaded[key]?.(...parameters);
      return handle as Module[Key];
    },
  };
}
