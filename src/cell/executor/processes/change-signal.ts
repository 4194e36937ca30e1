/** Lets any number of readers wait for the next change of something. */
export class Changes {
  #waiting: (() => void)[] = [];

  notify(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  /** Resolves with the next call of `notify`. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
