/** What the service counts by tenant, for its metrics. */
import type { ErrorCode, WorkcellEvent } from '../protocol/index.js';

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
  /** Failed answers by their code. */
  readonly errors: Map<string, number>;
  /** Actions by what became of them: `ok`, or the code of the error. */
  readonly actions: Map<string, number>;
  /** What ended connections of cells sent and received, where a gateway carries them. */
  sentBytes: number;
  receivedBytes: number;
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

  answered(tenant: string, status: number, failure: ErrorCode | undefined): void {
    const { answers, errors } = this.#of(tenant);
    addOne(answers, `${Math.floor(status / 100)}xx`);
    if (failure !== undefined) addOne(errors, failure);
  }

  /** Counts what happens in a cell. */
  happened(tenant: string, event: WorkcellEvent): void {
    const figures = this.#of(tenant);
    if (event.kind === 'observation') addOne(figures.actions, 'ok');
    else if (event.kind === 'error') addOne(figures.actions, event.error.code);
    else if (event.kind === 'network' && event.network.outcome === 'closed') {
      figures.sentBytes += event.network.sentBytes ?? 0;
      figures.receivedBytes += event.network.receivedBytes ?? 0;
    }
  }

  #of(tenant: string): TenantFigures {
    const known = this.#tenants.get(tenant);
    if (known !== undefined) return known;
    const within = creationBuckets.map(() => 0);
    const fresh = {
      within,
      created: 0,
      creationSeconds: 0,
      failed: 0,
      fromPool: 0,
      answers: new Map(),
      errors: new Map(),
      actions: new Map(),
      sentBytes: 0,
      receivedBytes: 0,
    };
    this.#tenants.set(tenant, fresh);
    return fresh;
  }
}

function addOne(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
