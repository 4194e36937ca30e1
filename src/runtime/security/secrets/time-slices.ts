const turnMs = 8;

/** Keeps long work on data from a cell from blocking the rest of the program. */
export class TimeSlices {
  #startedAt = performance.now();

  get isOver(): boolean {
    return performance.now() - this.#startedAt > turnMs;
  }

  /** Lets others have theirs. */
  async next(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#startedAt = performance.now();
  }
}
