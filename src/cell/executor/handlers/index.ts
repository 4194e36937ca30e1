import type { CoreActionName } from '../../../protocol/index.js';
import type { Handler } from '../handler-context.js';
import { edit } from './edit-handlers.js';
import { getEnv, setEnv, stats, unsetEnv } from './environment-handlers.js';
import { copy, list, makeDir, move, read, remove, stat, watch, write } from './file-handlers.js';
import {
  getProcess,
  listProcesses,
  signalProcess,
  startProcess,
  waitProcess,
  writeProcess,
} from './process-handlers.js';
import { closeSession, listSessions, readOutput, run } from './run-handlers.js';
import { glob, grep } from './search-handlers.js';

/** One handler for each action; a missing one does not compile. */
export const handlers: { readonly [Name in CoreActionName]: Handler<Name> } = {
  run,
  read_output: readOutput,
  list_sessions: listSessions,
  close_session: closeSession,
  read,
  write,
  edit,
  list,
  stat,
  make_dir: makeDir,
  remove,
  move,
  copy,
  watch,
  glob,
  grep,
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
