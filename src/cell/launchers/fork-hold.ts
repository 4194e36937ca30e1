/** Keeps processes from outrunning those who list them to end them. */
import type { Launcher } from './launcher.js';

/** A process that still starts others after this many rounds is faster than the rounds are. */
const roundsBeforeHold = 2;

/**
 * A chain of processes that fork and end can be faster than the loop that lists and kills them, for ever. After some
 * rounds, keep the cell from starting processes at all, if it has a group that counts them. Not before: others in the
 * cell would notice.
 */
export class ForkHold {
  readonly #launcher: Pick<Launcher, 'holdForks'>;
  #rounds = 0;
  #release: (() => void) | undefined;

  constructor(launcher: Pick<Launcher, 'holdForks'>) {
    this.#launcher = launcher;
  }

  /** Call it after each round that found new processes. */
  foundMore(): void {
    if (++this.#rounds > roundsBeforeHold) this.#release ??= this.#launcher.holdForks?.();
  }

  release(): void {
    this.#release?.();
  }
}
