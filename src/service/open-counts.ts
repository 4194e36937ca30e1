/** Counts what is open at once by name, up to a limit for each. */
export class OpenCounts {
  readonly #counts = new Map<string, number>();

  /** Returns the function that counts this one out again, or undefined when as many are open as may be. */
  enter(name: string, most: number): (() => void) | undefined {
    const count = this.#counts.get(name) ?? 0;
    if (count >= most) return undefined;
    this.#counts.set(name, count + 1);
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      const left = (this.#counts.get(name) ?? 1) - 1;
      if (left === 0) this.#counts.delete(name);
      else this.#counts.set(name, left);
    };
  }
}
