/** How many cells tenants may have, and how fast they may start them. */
import { Rate } from '../base/http/rate.js';
import { WorkcellError } from '../protocol/index.js';
import { freeMemory } from './free-memory.js';

export interface ServiceLimits {
  readonly maxCells: number;
  readonly maxCellsPerTenant: number;
  readonly startsAtOnce: number;
  readonly tenants: Readonly<
    Record<string, { readonly maxCells?: number | undefined; readonly startsPerMinute?: number | undefined }>
  >;
}

/** With less memory free on this machine, a start would take it from cells that run, or from the service. */
const leastFreeBytes = 128 * 1024 * 1024;

const untilFreeMs = 5000;

export class CellQuotas {
  readonly #limits: ServiceLimits;
  readonly #freeBytes: () => number;
  readonly #rates = new Map<string, Rate>();

  constructor(limits: ServiceLimits, freeBytes: () => number = freeMemory) {
    this.#limits = limits;
    this.#freeBytes = freeBytes;
  }

  /** Throws unless the tenant may have one more, besides its `own` cells and those of `all` tenants. */
  check(tenant: string, count: { readonly own: number; readonly all: number }): void {
    const { maxCells, maxCellsPerTenant, tenants } = this.#limits;
    const own = Object.hasOwn(tenants, tenant) ? tenants[tenant] : undefined;
    const most = own?.maxCells ?? maxCellsPerTenant;
    if (count.own >= most)
      throw over(`Your tenant has ${count.own} cells, and ${most} is its limit. Delete some first.`, {
        limit: most,
      });
    if (count.all >= maxCells)
      throw over('The service has as many cells as it may. Try again later.', { retryAfterMs: 1000 });
    this.checkMemory();
    if (own?.startsPerMinute !== undefined) this.#checkRate(tenant, own.startsPerMinute);
  }

  /**
   * Throws without room for one more start. Check it when a request comes, so that it is refused at once, and again when
   * the turn of its start comes: those before it have taken memory since.
   */
  checkMemory(): void {
    if (this.#freeBytes() < leastFreeBytes)
      throw over('This machine has too little free memory to start a cell. Try again later.', {
        retryAfterMs: untilFreeMs,
      });
  }

  #checkRate(tenant: string, perMinute: number): void {
    const rate = this.#rates.get(tenant) ?? new Rate(perMinute / 60, Math.max(1, Math.floor(perMinute)));
    this.#rates.set(tenant, rate);
    if (rate.take()) return;
    throw over(`Your tenant may start ${perMinute} cells a minute. Try again later.`, {
      limit: perMinute,
      retryAfterMs: Math.ceil(60_000 / perMinute),
    });
  }
}

function over(message: string, details: Record<string, unknown>): WorkcellError {
  return new WorkcellError('rate-limited', message, { details });
}
