/** Keeps processes from outrunning those who list them to end them. */
import type { Launcher } from './launcher.js';

/** What still starts others after so many rounds is faster than they are. */
const roundsBeforeHold = 2;

/**
 * A chain of processes that fork and end can be faster than whoever lists and kills them, for ever. After some rounds
 * the cell is kept from starting processes at all, where it has a group that counts them. Not before: others in the
 * cell would notice.
 */
export class ForkHold {
  readonly #launcher: Pick<Launcher, 'holdForks'>;
  #rounds = 0;
  #release: (() => void) | undefined;

  constructor(launcher: Pick<Launcher, 'holdForks'>) {
    this.#launcher = launcher;
  }

  /** To be told of each round that found processes which were not there before. */
  foundMore(): void {
    if (++this.#rounds > roundsBeforeHold) this.#release ??= this.#launcher.holdForks?.();
  }

  release(): void {
    this.#release?.();
  }
}
