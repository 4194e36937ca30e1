/** What the service counts by tenant, for its metrics. */

/** Seconds, as the upper ends of a histogram. */
export const creationBuckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

export interface TenantFigures {
  /** Creations that took no longer than each bucket. */
  readonly within: number[];
  created: number;
  creationSeconds: number;
  failed: number;
  fromPool: number;
  /** Answers by the first digit of their status. */
  readonly answers: Map<string, number>;
}

export class ServiceFigures {
  readonly #tenants = new Map<string, TenantFigures>();

  get tenants(): ReadonlyMap<string, TenantFigures> {
    return this.#tenants;
  }

  /** Counts a creation, and how long it takes with its wait. */
  async timed<Result>(tenant: string, fromPool: boolean, create: () => Promise<Result>): Promise<Result> {
    const figures = this.#of(tenant);
    const begun = performance.now();
    try {
      const result = await create();
      const seconds = (performance.now() - begun) / 1000;
      figures.created++;
      figures.creationSeconds += seconds;
      if (fromPool) figures.fromPool++;
      creationBuckets.forEach((most, index) => {
        if (seconds <= most) figures.within[index] = (figures.within[index] ?? 0) + 1;
      });
      return result;
    } catch (error) {
      figures.failed++;
      throw error;
    }
  }

  answered(tenant: string, status: number): void {
    const { answers } = this.#of(tenant);
    const kind = `${Math.floor(status / 100)}xx`;
    answers.set(kind, (answers.get(kind) ?? 0) + 1);
  }

  #of(tenant: string): TenantFigures {
    const known = this.#tenants.get(tenant);
    if (known !== undefined) return known;
    const within = creationBuckets.map(() => 0);
    const fresh = { within, created: 0, creationSeconds: 0, failed: 0, fromPool: 0, answers: new Map() };
    this.#tenants.set(tenant, fresh);
    return fresh;
  }
}
