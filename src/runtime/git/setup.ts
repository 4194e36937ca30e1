/** The preparation that a repository asks for: a script to source once, and a check before each commit. */
import { posix } from 'node:path';
import { quote } from '../../base/shell-quote.js';
import { type Observation, WorkcellError } from '../../protocol/index.js';
import type { Call } from '../verb-call.js';
import { inspect, output, outputIfAny } from './git-command.js';

/** Folders with a repository's setup; the first one found wins. */
const folders = ['.workcell', '.openhands'];

const patienceMs = 600_000;

/** Marks a hook as ours, so that we replace it and never keep it as a foreign one. */
const marker = '# Installed by workcell: runs the check that this repository brings with it.';

export interface SetupResult {
  /** The script that ran and its result; null when the repository has none. */
  readonly script: { readonly path: string; readonly result: Observation<'run'> } | null;
  /** The check that runs before each commit; null when there is none, or when the repository has hooks elsewhere. */
  readonly preCommit: string | null;
}

export interface SetupOptions {
  /** Default: ten minutes. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Sets a repository up, once. After a failure, call it again to retry. */
export async function setUpOnce(
  call: Call,
  cwd: string,
  done: Map<string, Promise<SetupResult>>,
  options: SetupOptions,
): Promise<SetupResult> {
  const git = await inspect(call, cwd, options.signal);
  const root = await output(git, ['rev-parse', '--show-toplevel']);
  const known = done.get(root);
  if (known !== undefined) return known;
  const result = setUp(call, root, options);
  done.set(root, result);
  result.catch(() => done.delete(root));
  return result;
}

async function setUp(call: Call, root: string, options: SetupOptions): Promise<SetupResult> {
  const script = await firstFile(call, root, 'setup.sh');
  const check = await firstFile(call, root, 'pre-commit.sh');
  if (script === undefined && check === undefined) return { script: null, preCommit: null };
  try {
    return {
      script: script === undefined ? null : await source(call, root, script, options),
      preCommit:
        check !== undefined && (await installCheck(call, root, check, options.signal)) ? check : null,
    };
  } finally {
    call.report?.({ status: 'READY', level: 'info', message: `The work in ${root} can begin.` });
  }
}

/** Runs the script in the default shell, which stays in the top directory and keeps the variables that it sets. */
async function source(
  call: Call,
  root: string,
  path: string,
  { timeoutMs = patienceMs, signal }: SetupOptions,
): Promise<SetupResult['script']> {
  call.report?.({ status: 'SETTING_UP_WORKSPACE', level: 'info', message: `Sourcing ${path} in ${root}.` });
  // Sourcing needs no permission to execute; giving it would show as a change.
  const command = `cd ${quote(root)} && . ${quote(`./${path}`)}`;
  return { path, result: await call.execute({ action: 'run', command, timeoutMs }, { signal }) };
}

/** False where another tool manages the hooks. */
async function installCheck(
  call: Call,
  root: string,
  check: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const git = await inspect(call, root, signal);
  // Ask for the path that the repository names; inspection itself uses another one.
  const named = await outputIfAny(git, ['config', '--local', '--get', 'core.hooksPath']);
  if (named !== undefined) return false;
  call.report?.({
    status: 'SETTING_UP_GIT_HOOKS',
    level: 'info',
    message: `Installing ${check} in ${root}.`,
  });
  const directory = posix.resolve(root, await output(git, ['rev-parse', '--git-common-dir']), 'hooks');
  const hook = `${directory}/pre-commit`;
  const kept = `${hook}.local`;
  await call.execute({ action: 'make_dir', path: directory });
  const present = await readIfAny(call, hook);
  if (present !== undefined && !present.includes(marker)) {
    await call.execute({ action: 'move', from: hook, to: kept, overwrite: true });
  }
  await call.execute({ action: 'write', path: hook, content: hookSource(check), mode: 0o755 });
  return true;
}

/** The previous hook runs first, if git could run it before. */
function hookSource(check: string): string {
  return `#!/usr/bin/env bash
${marker}
kept="$(dirname "$0")/pre-commit.local"
if [ -x "$kept" ]; then "$kept" "$@" || exit $?; fi
if [ ! -r ${quote(check)} ]; then
  echo ${quote(`${check} is gone; the commit goes on without it.`)} >&2
  exit 0
fi
. ${quote(`./${check}`)}
`;
}

async function firstFile(call: Call, root: string, name: string): Promise<string | undefined> {
  for (const folder of folders) {
    const path = `${folder}/${name}`;
    try {
      const { type } = await call.execute({ action: 'stat', path: `${root}/${path}` });
      if (type === 'file') return path;
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  return undefined;
}

async function readIfAny(call: Call, path: string): Promise<string | undefined> {
  try {
    return (await call.execute({ action: 'read', path })).content;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return WorkcellError.isInstance(error) && ['not-found', 'not-a-directory'].includes(error.code);
}
