/**
 * Runs the work of many tenants, a limited number at once, the tenants in turn: a burst of one does not delay
 * another's single piece.
 */
export class FairQueue {
  readonly #atOnce: number;
  readonly #waiting = new Map<string, (() => void)[]>();
  #running = 0;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** How much waits. */
  get length(): number {
    return [...this.#waiting.values()].reduce((sum, { length }) => sum + length, 0);
  }

  async run<Result>(tenant: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#atOnce) await this.#turn(tenant);
    else this.#running++;
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #turn(tenant: string): Promise<void> {
    return new Promise((resolve) => {
      const line = this.#waiting.get(tenant) ?? [];
      line.push(resolve);
      this.#waiting.set(tenant, line);
    });
  }

  /** Hands the place on: the tenant that just had its turn goes behind all others. */
  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#running--;
      return;
    }
    const [tenant, line] = first;
    const start = line.shift();
    this.#waiting.delete(tenant);
    if (line.length > 0) this.#waiting.set(tenant, line);
    start?.();
  }
}
