/** Named pipes, made many at a time because Node cannot make one itself and a process for each would cost a millisecond. */
import { execFile } from 'node:child_process';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hostProgram } from '../../base/find-program.js';
import { WorkcellError } from '../../protocol/index.js';
import { makeFleeting } from './scratch.js';
import { runBeside } from './spawner.js';

/** Callers wait for the first ones; later ones are ready in advance. */
const firstBatch = 16;
const batch = 128;
/** More than one cell takes, so that a program with one cell makes no second batch. */
const fewLeft = 8;
const ready: string[] = [];
let directory: string | undefined;
let made = 0;
let making: Promise<void> | undefined;
let prefix: readonly string[] = [];

/** Words to put before the program that makes pipes, for a process that runs as another user than their owner. */
export function makeFifosThrough(words: readonly string[]): void {
  prefix = words;
}

/** Has the first ones made while the caller does something else. Who needs one gets the error. */
export function prepareFifos(): void {
  if (ready.length === 0) makeMore().catch(() => {});
}

/** Puts a new pipe, readable and writable by its owner only, at `path`, which is in a fleeting directory. */
export async function makeFifo(path: string): Promise<void> {
  while (ready.length === 0) await makeMore();
  renameSync(ready.pop() as string, path);
  // If making more in advance fails, the next caller that needs one gets the error.
  if (ready.length < fewLeft) makeMore().catch(() => {});
}

/** One batch at a time, for all who wait. What fails at once has ended, too, so that the next caller begins anew. */
function makeMore(): Promise<void> {
  making ??= makeBatch().finally(() => {
    making = undefined;
  });
  return making;
}

async function makeBatch(): Promise<void> {
  try {
    directory ??= makeFleeting('pipes');
    const length = made === 0 ? firstBatch : batch;
    const paths = Array.from({ length }, () => join(directory as string, `pipe-${made++}`));
    await run([...prefix, hostProgram('mkfifo'), '-m', '600', ...paths]);
    ready.push(...paths);
  } catch (cause) {
    if (cause instanceof Error && cause.message.includes('No space left')) {
      throw new WorkcellError(
        'disk-full',
        `There is no space left for the pipes of a shell in ${directory}. Remove files that you do not need.`,
        { cause },
      );
    }
    throw new WorkcellError('shell-missing', 'Shells need the program "mkfifo"; install coreutils.', {
      cause,
    });
  }
}

async function run([program = '', ...args]: readonly string[]): Promise<void> {
  const beside = prefix.length === 0 ? runBeside([program, ...args]) : undefined;
  if (beside === undefined)
    await promisify(execFile)(program, args, { env: { ...process.env, LC_ALL: 'C' } });
  else {
    const complaint = await beside;
    if (complaint !== undefined) throw new Error(complaint);
  }
}
