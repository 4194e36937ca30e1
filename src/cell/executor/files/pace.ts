import { checkCancelled } from './errors.js';

const turnMs = 8;

/** Keeps a long loop of short system calls from holding up the rest of the program, and lets it be cancelled. */
export class Pace {
  readonly #signal: AbortSignal | undefined;
  #turnStartedAt = performance.now();

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  /** Call between two steps of the loop; others get their turn every few milliseconds. */
  async step(): Promise<void> {
    if (performance.now() - this.#turnStartedAt < turnMs) return;
    await new Promise((resolve) => setImmediate(resolve));
    checkCancelled(this.#signal);
    this.#turnStartedAt = performance.now();
  }
}
