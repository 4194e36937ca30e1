/** Changes of one cell follow each other; those of two do not wait for one another. */
export class Turns {
  /** The last change of each cell that is under way; the next one follows it. */
  readonly #last = new Map<string, Promise<unknown>>();

  has(id: string): boolean {
    return this.#last.has(id);
  }

  take<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(id) ?? Promise.resolve();
    const turn = before.then(work, work);
    this.#last.set(id, turn);
    const over = () => {
      if (this.#last.get(id) === turn) this.#last.delete(id);
    };
    turn.then(over, over);
    return turn;
  }

  /** Waits for the change of a cell that is under way, whether it fails or not. */
  async over(id: string): Promise<void> {
    await this.#last.get(id)?.catch(() => {});
  }

  async allOver(): Promise<void> {
    await Promise.allSettled([...this.#last.values()]);
  }
}
