/** How many cells tenants may have, and how fast they may start them. */
import { Rate } from '../base/http/rate.js';
import { WorkcellError } from '../protocol/index.js';
import { freeMemory } from './free-memory.js';
import type { CellRecord } from './service-store.js';
import type { Declared, Template } from './templates.js';

interface TenantLimits {
  readonly maxCells?: number | undefined;
  readonly startsPerMinute?: number | undefined;
  /** What the templates of its cells declare, together. */
  readonly maxMemoryBytes?: number | undefined;
  readonly maxCpus?: number | undefined;
}

/** What a tenant has, and what all have. */
interface Count {
  readonly own: readonly Pick<CellRecord, 'declared'>[];
  readonly all: number;
}

export interface ServiceLimits {
  readonly maxCells: number;
  readonly maxCellsPerTenant: number;
  readonly startsAtOnce: number;
  readonly tenants: Readonly<Record<string, TenantLimits>>;
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

  /** Throws unless the tenant may have one more of this template, besides its `own` cells and those of `all` tenants. */
  check(tenant: string, template: Pick<Template, 'name' | 'declared'>, count: Count): void {
    const { maxCells, maxCellsPerTenant, tenants } = this.#limits;
    const own = Object.hasOwn(tenants, tenant) ? tenants[tenant] : undefined;
    const most = own?.maxCells ?? maxCellsPerTenant;
    if (count.own.length >= most)
      throw over(`Your tenant has ${count.own.length} cells, and ${most} is its limit. Delete some first.`, {
        limit: most,
        of: 'cells',
      });
    checkDeclared('memoryBytes', own?.maxMemoryBytes, template, count.own);
    checkDeclared('cpus', own?.maxCpus, template, count.own);
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
      of: 'starts a minute',
      retryAfterMs: Math.ceil(rate.waitMs()),
    });
  }
}

const words = { memoryBytes: 'bytes of memory', cpus: 'processors' } as const;

/** Cells that may take more than the tenant has left do not start, whatever they would take. */
function checkDeclared(
  what: keyof Declared,
  limit: number | undefined,
  { name, declared }: Pick<Template, 'name' | 'declared'>,
  cells: Count['own'],
): void {
  if (limit === undefined) return;
  const wanted = declared?.[what];
  if (wanted === undefined)
    throw new WorkcellError(
      'denied',
      `Your tenant may have ${limit} ${words[what]} in all, and cells of the template "${name}" have no limit of their own. Ask for another template.`,
      { details: { template: name, limit, of: what } },
    );
  const used = cells.reduce((sum, cell) => sum + (cell.declared?.[what] ?? 0), 0);
  if (used + wanted <= limit) return;
  throw over(
    `Your tenant has cells for ${used} ${words[what]}, this one is for ${wanted}, and ${limit} is the limit. Delete some first.`,
    { limit, used, wanted, of: what },
  );
}

function over(message: string, details: Record<string, unknown>): WorkcellError {
  return new WorkcellError('rate-limited', message, { details });
}
