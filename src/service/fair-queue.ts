import { traced } from '../protocol/tracing.js';

/**
 * Runs the work of many tenants, a limited number at once, the tenants in turn: a burst of one does not delay
 * another's single piece. One tenant never has the last free slot, so that another's piece waits for none of its work.
 */
export class FairQueue {
  readonly #atOnce: number;
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #running = new Map<string, number>();
  #all = 0;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** How much waits. */
  get length(): number {
    return [...this.#waiting.values()].reduce((sum, { length }) => sum + length, 0);
  }

  async run<Result>(tenant: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#mayRun(tenant)) this.#enter(tenant);
    else
      await traced(
        'wait for a turn',
        () => ({ attributes: { 'workcell.tenant': tenant } }),
        () => this.#turn(tenant),
      );
    try {
      return await work();
    } finally {
      this.#leave(tenant);
    }
  }

  #mayRun(tenant: string): boolean {
    const ofOne = Math.max(1, this.#atOnce - 1);
    return this.#all < this.#atOnce && (this.#running.get(tenant) ?? 0) < ofOne;
  }

  #enter(tenant: string): void {
    this.#all++;
    this.#running.set(tenant, (this.#running.get(tenant) ?? 0) + 1);
  }

  #turn(tenant: string): Promise<void> {
    return new Promise((resolve) => {
      const line = this.#waiting.get(tenant) ?? [];
      line.push(resolve);
      this.#waiting.set(tenant, line);
    });
  }

  /** Hands the slot on: the tenant that gets it goes behind all others. */
  #leave(tenant: string): void {
    this.#all--;
    const left = (this.#running.get(tenant) ?? 1) - 1;
    if (left === 0) this.#running.delete(tenant);
    else this.#running.set(tenant, left);
    const next = [...this.#waiting].find(([waiting]) => this.#mayRun(waiting));
    if (next === undefined) return;
    const [first, line] = next;
    const start = line.shift();
    this.#waiting.delete(first);
    if (line.length > 0) this.#waiting.set(first, line);
    this.#enter(first);
    start?.();
  }
}
