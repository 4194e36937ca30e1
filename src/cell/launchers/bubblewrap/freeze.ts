/**
 * Stops and resumes every process of a cell. A shell must not see that its command stopped, which it would take for
 * Ctrl-Z: parents stop before their children and resume after them.
 */
import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { WorkcellError } from '../../../protocol/index.js';
import { familyOf } from './cell-processes.js';

/** A process in the middle of a system call stops when that is over. */
const stopMs = 1000;

/** Each round finds what was started since the one before, by processes that had not stopped yet. */
const rounds = 200;

/** Halts what descends from one process, itself included. */
export class Freezer {
  readonly #first: number;
  #frozen: Promise<void> | undefined;

  constructor(first: number) {
    this.#first = first;
  }

  /** While they are stopped: settles when they resume. */
  frozen(): Promise<void> | undefined {
    return this.#frozen;
  }

  /** Stops them; returns the function that resumes them. */
  async freeze(): Promise<() => void> {
    let onThaw = () => {};
    const frozen = new Promise<void>((resolve) => {
      onThaw = resolve;
    });
    this.#frozen = frozen;
    const goOn = () => {
      if (this.#frozen === frozen) this.#frozen = undefined;
      onThaw();
    };
    try {
      const thaw = await stopFamily(this.#first);
      return () => {
        thaw();
        goOn();
      };
    } catch (error) {
      goOn();
      throw error;
    }
  }
}

async function stopFamily(first: number): Promise<() => void> {
  const seen = new Set<number>();
  const stopped: number[] = [];
  const thaw = () => {
    for (const pid of stopped.splice(0).reverse()) send(pid, 'SIGCONT');
  };
  for (let round = 0; round < rounds; round++) {
    let found = 0;
    for (const pid of familyOf(first)) {
      if (seen.has(pid)) continue;
      seen.add(pid);
      found++;
      // A process that was stopped before stays so when the others resume.
      if (!isStopped(pid)) stopped.push(pid);
      send(pid, 'SIGSTOP');
      await settled(pid);
    }
    if (found === 0) return thaw;
  }
  thaw();
  throw new WorkcellError(
    'internal',
    'The cell starts processes faster than Workcell can stop them, so it is not paused. End its commands first.',
  );
}

/** The kernel tells nobody but a parent; it is a matter of microseconds, and bounded. */
async function settled(pid: number): Promise<void> {
  const deadline = performance.now() + stopMs;
  while (!isStopped(pid) && performance.now() < deadline) await nextTurn();
}

/** True also for one that is gone. */
function isStopped(pid: number): boolean {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return /^[TtZX]/.test(line.slice(line.lastIndexOf(')') + 2));
  } catch {
    return true;
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone.
  }
}
