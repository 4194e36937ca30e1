/** Why a program could not start in a cell, in words. */
import { WorkcellError } from '../../../protocol/index.js';
import type { SpawnOptions } from '../launcher.js';

const shells = new Set(['bash', 'sh']);

/** `reason` comes from the relay. */
export function startFailure(
  reason: string,
  argv: readonly string[],
  { cwd, env }: SpawnOptions,
): WorkcellError {
  const [program = ''] = argv;
  const details = { argv: [...argv], cwd };
  const path = env.PATH ?? 'not set';
  switch (reason) {
    case 'no-directory':
      return new WorkcellError(
        'not-found',
        `The working directory ${cwd} does not exist; make it first or name another as cwd.`,
        { details },
      );
    case 'not-a-directory':
      return new WorkcellError('not-a-directory', `The working directory ${cwd} is not a directory.`, {
        details,
      });
    case 'gone':
      return new WorkcellError(
        'runtime-closed',
        'The cell ended before the program started; start a new cell.',
      );
    case 'killed':
      return new WorkcellError(
        'spawn-failed',
        `"${program}" did not start: something in the cell killed it, or the cell has as many processes as it may.`,
        { details },
      );
    case 'no-terminal':
      return new WorkcellError(
        'spawn-failed',
        `"${program}" could not be started on a terminal: further terminals of a cell need the programs "script" and "stty" inside it; install util-linux and coreutils there.`,
        { details },
      );
    default:
      if (shells.has(program)) {
        return new WorkcellError(
          'shell-missing',
          `No "${program}" was found in PATH (${path}); install it.`,
          { details },
        );
      }
      return new WorkcellError(
        'spawn-failed',
        program.includes('/')
          ? `"${program}" could not be started: there is no such file, or it is not executable.`
          : `"${program}" could not be started: it is not in PATH (${path}); install it or give its whole path.`,
        { details },
      );
  }
}
