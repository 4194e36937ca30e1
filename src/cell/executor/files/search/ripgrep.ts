/**
 * The cell's own ripgrep, which searches large trees many times faster than we do. It runs as a process of the cell,
 * so it opens what any command there may open. Its output is untrusted: it only names files, and the code that reads
 * one opens it beneath the tree like every other file.
 */

import { checkCancelled, walkMs } from '../../../../base/pace.js';
import { killTree } from '../../../launchers/kill-tree.js';
import type { LaunchedProcess, Launcher } from '../../../launchers/launcher.js';
import { maxDepth } from '../visit.js';

export interface RipgrepRequest {
  /** The directory to search, as seen from inside. */
  readonly cwd: string;
  /** Name files with a line that matches; without it, all files. */
  readonly pattern?: string | undefined;
  readonly ignoreCase?: boolean | undefined;
  readonly hidden?: boolean | undefined;
  readonly ignored?: boolean | undefined;
  /** Whether the ignore files of the directories above count. */
  readonly rulesAbove: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * How the naming ended: `complete`, `late` when it took too long, or `failed`. It fails when there is no ripgrep,
 * when ripgrep does not know our options, or when it could not read everything, so that we cannot tell what is
 * missing.
 */
export type RipgrepEnd = 'complete' | 'late' | 'failed';

/** A cell that is short of processes must not keep a search waiting. */
const startMs = 5_000;

const maxPathBytes = 4096;

/** Names files relative to `cwd`, in the order of a walk, as many at once as there are; returns how it ended. */
export async function* ripgrep(
  launcher: Launcher,
  request: RipgrepRequest,
): AsyncGenerator<readonly string[], RipgrepEnd> {
  const launched = await start(launcher, request);
  if (launched === undefined) return 'failed';
  let isLate = false;
  let hasExited = false;
  const exited = launched.exited.then((status) => {
    hasExited = true;
    return status;
  });
  const stop = () => {
    launched.stdout.destroy();
    launched.stderr.destroy();
    return hasExited ? undefined : killTree(launcher, [launched.pid], 'SIGKILL');
  };
  const timer = setTimeout(() => {
    isLate = true;
    void stop();
  }, walkMs);
  request.signal?.addEventListener('abort', stop, { once: true });
  launched.stdin.on('error', () => {}).end();
  launched.stderr.on('error', () => {}).resume();
  try {
    checkCancelled(request.signal);
    let isSound = true;
    for await (const read of namesIn(launched.stdout)) {
      if (read.names.length > 0) yield read.names;
      isSound = read.isSound;
      if (!isSound) break;
    }
    checkCancelled(request.signal);
    if (isLate) return 'late';
    if (!isSound) return 'failed';
    const { exitCode } = await exited;
    checkCancelled(request.signal);
    return exitCode === 0 || exitCode === nothingFound ? 'complete' : isLate ? 'late' : 'failed';
  } finally {
    clearTimeout(timer);
    request.signal?.removeEventListener('abort', stop);
    await stop();
  }
}

const nothingFound = 1;

async function start(launcher: Launcher, request: RipgrepRequest): Promise<LaunchedProcess | undefined> {
  const { cwd } = request;
  const starting = launcher.spawn(argumentsFor(request), { cwd, env: launcher.environment });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, startMs, undefined);
  });
  try {
    const launched = await Promise.race([starting, late]);
    if (launched === undefined) {
      void starting.then(
        ({ pid }) => killTree(launcher, [pid], 'SIGKILL'),
        () => {},
      );
    }
    return launched;
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

function argumentsFor(request: RipgrepRequest): string[] {
  const { pattern } = request;
  const flags = ['--no-config', '--no-messages', '--null', '--sort=path', `--max-depth=${maxDepth}`];
  if (request.hidden) flags.push('--hidden');
  if (request.ignored) {
    flags.push('--no-ignore');
  } else {
    flags.push('--no-require-git', '--no-ignore-global', '--no-ignore-exclude', '--glob=!.git');
    if (!request.rulesAbove) flags.push('--no-ignore-parent');
  }
  if (request.ignoreCase) flags.push('--ignore-case');
  const what = pattern === undefined ? ['--files'] : ['--files-with-matches', `--regexp=${pattern}`];
  return ['rg', ...flags, ...what, '--', '.'];
}

interface ReadNames {
  readonly names: readonly string[];
  /** False when something stands after them that is no name which a search can give. */
  readonly isSound: boolean;
}

async function* namesIn(output: AsyncIterable<Buffer>): AsyncGenerator<ReadNames> {
  let rest = Buffer.alloc(0);
  try {
    for await (const chunk of output) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const end = bytes.lastIndexOf(0) + 1;
      yield readNames(bytes.subarray(0, end));
      rest = Buffer.from(bytes.subarray(end));
      if (rest.length > maxPathBytes) break;
    }
  } catch {
    // This side closed the pipe, because the search has stopped.
  }
  if (rest.length > 0) yield { names: [], isSound: false };
}

function readNames(bytes: Buffer): ReadNames {
  const names: string[] = [];
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(0, from);
    const name = readName(bytes.subarray(from, end));
    if (name === undefined) return { names, isSound: false };
    names.push(name);
    from = end + 1;
  }
  return { names, isSound: true };
}

/**
 * Undefined for text that is not a path below the directory, and for a path that is not UTF-8, because text cannot
 * lead back to it.
 */
function readName(bytes: Buffer): string | undefined {
  if (bytes.length > maxPathBytes) return undefined;
  const text = bytes.toString();
  if (text.includes('\uFFFD') || !text.startsWith('./')) return undefined;
  const name = text.slice(2);
  return name.split('/').some((part) => part === '' || part === '.' || part === '..') ? undefined : name;
}
