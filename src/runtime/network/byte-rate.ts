/** A limit on the bytes in a second, for all connections of a cell together. */

const second = 1000;

export class ByteRate {
  #left: number | undefined;
  #at = performance.now();

  /** Counts bytes that passed. Returns for how many milliseconds no more may pass, and at most a second. */
  take(bytes: number, perSecond: number | undefined): number {
    if (perSecond === undefined) {
      this.#left = undefined;
      return 0;
    }
    const now = performance.now();
    const gained = ((now - this.#at) / second) * perSecond;
    this.#at = now;
    this.#left = Math.min(perSecond, (this.#left ?? perSecond) + gained) - bytes;
    return this.#left >= 0 ? 0 : Math.min(second, Math.ceil((-this.#left / perSecond) * second));
  }
}
