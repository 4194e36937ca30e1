/**
 * Notices that a start inside the cell has failed when no process remains to report it. A command can kill every
 * process of its cell but the first, also those that report starts.
 */
import type { Identity } from './cell-processes.js';

/** Check a start that takes longer than this, and check again at this interval. */
const lookMs = 1000;

/** A relay that cannot make processes tries for a while; one that has not by then will not. */
const patienceMs = 30_000;

/** How long a report may take from inside to here. */
const reportMs = 50;

export class Attempt {
  supervisor: Identity | undefined;
  pump: Identity | undefined;
  readonly #timer: NodeJS.Timeout;
  #stopped = false;

  constructor(onLost: () => void) {
    const deadline = performance.now() + patienceMs;
    this.#timer = setInterval(() => {
      const dead = this.supervisor?.isAlive() === false;
      if (dead || performance.now() > deadline) onLost();
    }, lookMs);
    this.#timer.unref();
  }

  /** The program runs. */
  started(): void {
    clearInterval(this.#timer);
  }

  /** The report has come; stop looking. */
  stop(): void {
    this.#stopped = true;
    clearInterval(this.#timer);
  }

  /**
   * Settles when a program whose output has ended has exited and no process remains to report it; else never. Nothing
   * signals such an end, so this looks for it at growing intervals until the report comes or cannot come.
   */
  async confirmEnd(program: Identity): Promise<void> {
    for (let waitMs = reportMs; !this.#stopped; waitMs = Math.min(waitMs * 2, lookMs)) {
      const possible = this.supervisor?.isAlive() || program.isAlive();
      // A supervisor may have reported just before it ended, so wait for that report to arrive.
      await new Promise((resolve) => setTimeout(resolve, waitMs).unref());
      if (!possible && !this.#stopped) return;
    }
    return new Promise(() => {});
  }
}
