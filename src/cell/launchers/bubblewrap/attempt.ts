/**
 * Notices that a start inside the cell has failed when nobody is left to report it: a command can kill every process of
 * its cell but the first, those that report starts included.
 */
import type { Identity } from './cell-processes.js';

/** A start that takes longer is checked, and checked again at this interval. */
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

  /** All is known that there is to know. */
  stop(): void {
    this.#stopped = true;
    clearInterval(this.#timer);
  }

  /**
   * Settles when a program whose output has ended is gone and no process is left to report it; else never. Nothing
   * signals such an end, so this looks for it at growing intervals until the report comes or cannot come.
   */
  async confirmEnd(program: Identity): Promise<void> {
    for (let waitMs = reportMs; !this.#stopped; waitMs = Math.min(waitMs * 2, lookMs)) {
      const possible = this.supervisor?.isAlive() || program.isAlive();
      // A report that was made just before the supervisor went is on its way.
      await new Promise((resolve) => setTimeout(resolve, waitMs).unref());
      if (!possible && !this.#stopped) return;
    }
    return new Promise(() => {});
  }
}
