/** Says in words why a program did not start, and distinguishes a missing directory from a missing program. */
import { statSync } from 'node:fs';
import { findProgram } from '../../base/find-program.js';
import { WorkcellError } from '../../protocol/index.js';
import type { SpawnOptions } from './launcher.js';

const shells = new Set(['bash', 'sh']);

/** The error for an attempt that failed, or undefined when nothing visible speaks against the start. */
export function spawnObstacle(
  argv: readonly string[],
  { cwd, env }: SpawnOptions,
  cause?: unknown,
): WorkcellError | undefined {
  const [file = ''] = argv;
  const details = { argv: [...argv], cwd };
  const directory = statSync(cwd, { throwIfNoEntry: false });
  if (directory === undefined) {
    return new WorkcellError(
      'not-found',
      `The working directory ${cwd} does not exist; make it first or name another as cwd.`,
      { details, cause },
    );
  }
  if (!directory.isDirectory()) {
    return new WorkcellError('not-a-directory', `The working directory ${cwd} is not a directory.`, {
      details,
      cause,
    });
  }
  if (findProgram(file, env.PATH, cwd) !== undefined) return undefined;
  if (shells.has(file)) {
    return new WorkcellError(
      'shell-missing',
      `No "${file}" was found in PATH (${env.PATH ?? 'not set'}); install it.`,
      {
        details,
        cause,
      },
    );
  }
  const place = file.includes('/')
    ? 'there is no such file, or it is not executable'
    : `it is not in PATH (${env.PATH ?? 'not set'}); install it or give its whole path`;
  return new WorkcellError('spawn-failed', `"${file}" could not be started: ${place}.`, { details, cause });
}

/** The error for a start that the operating system refused. */
export function spawnFailure(
  argv: readonly string[],
  options: SpawnOptions,
  cause: NodeJS.ErrnoException,
): WorkcellError {
  const [file = ''] = argv;
  return (
    spawnObstacle(argv, options, cause) ??
    new WorkcellError('spawn-failed', `"${file}" could not be started in ${options.cwd}: ${hint(cause)}.`, {
      details: { argv: [...argv], cwd: options.cwd },
      cause,
    })
  );
}

function hint({ code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'ENOENT':
      return 'the interpreter that its first line or its ELF header names is missing';
    case 'ENOEXEC':
      return 'it is no program for this machine; give a script a "#!" line';
    case 'E2BIG':
      return 'its arguments and environment are too long; pass the data through stdin or a file';
    case 'EAGAIN':
    case 'ENOMEM':
    case 'EMFILE':
    case 'ENFILE':
      return `the system is out of processes, memory or descriptors (${code}); try again when less is running`;
    default:
      return code ?? message;
  }
}
