/** How many cells tenants may have, and how fast they may start them. */
import { Rate } from '../base/http/rate.js';
import { WorkcellError } from '../protocol/index.js';
import { freeMemory } from './free-memory.js';
import type { Declared, Template } from './templates.js';

interface TenantLimits {
  readonly maxCells?: number | undefined;
  readonly startsPerMinute?: number | undefined;
  /** What the templates of its cells declare, together. */
  readonly maxMemoryBytes?: number | undefined;
  readonly maxCpus?: number | undefined;
}

/** What a tenant has, by what each cell may take as far as anybody knows, and how many all have. */
interface Count {
  readonly own: readonly (Declared | undefined)[];
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

const tolerance = 1e-9;

type Asked = Pick<Template, 'name' | 'declared'>;

export class CellQuotas {
  readonly #limits: ServiceLimits;
  readonly #freeBytes: () => number;
  readonly #rates = new Map<string, Rate>();

  constructor(limits: ServiceLimits, freeBytes: () => number = freeMemory) {
    this.#limits = limits;
    this.#freeBytes = freeBytes;
  }

  /** Throws unless the tenant may have one more of this template, besides its `own` cells and those of `all` tenants. */
  check(tenant: string, template: Asked, count: Count): void {
    const refusal = this.#refusal(tenant, template, count.own);
    if (refusal !== undefined) throw refusal;
    if (count.all >= this.#limits.maxCells)
      throw over('The service has as many cells as it may. Try again later.', { retryAfterMs: 1000 });
    this.checkMemory();
    const perMinute = this.#of(tenant)?.startsPerMinute;
    if (perMinute !== undefined) this.#checkRate(tenant, perMinute);
  }

  /** Whether one more of this template stays within what the tenant may have. */
  mayHave(tenant: string, template: Asked, own: Count['own']): boolean {
    return this.#refusal(tenant, template, own) === undefined;
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

  #of(tenant: string): TenantLimits | undefined {
    const { tenants } = this.#limits;
    return Object.hasOwn(tenants, tenant) ? tenants[tenant] : undefined;
  }

  #refusal(tenant: string, template: Asked, own: Count['own']): WorkcellError | undefined {
    const { maxCells, maxMemoryBytes, maxCpus } = this.#of(tenant) ?? {};
    const limit = maxCells ?? this.#limits.maxCellsPerTenant;
    if (own.length >= limit)
      return over(`Your tenant has ${own.length} cells, and ${limit} is its limit. Delete some first.`, {
        limit,
        of: 'cells',
      });
    return (
      refusalOf('memoryBytes', maxMemoryBytes, template, own) ?? refusalOf('cpus', maxCpus, template, own)
    );
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
function refusalOf(
  what: keyof Declared,
  limit: number | undefined,
  { name, declared }: Asked,
  cells: Count['own'],
): WorkcellError | undefined {
  if (limit === undefined) return undefined;
  const wanted = declared?.[what];
  if (wanted === undefined)
    return new WorkcellError(
      'denied',
      `Your tenant may have ${limit} ${words[what]} in all, and cells of the template "${name}" have no limit of their own. Ask for another template.`,
      { details: { template: name, limit, of: what } },
    );
  const unlimited = cells.filter((cell) => cell?.[what] === undefined).length;
  if (unlimited > 0)
    return over(
      `Your tenant may have ${limit} ${words[what]} in all, and ${unlimited} of its cells have no limit of their own. Delete them first.`,
      { limit, unlimited, of: what },
    );
  const used = cells.reduce((sum, cell) => sum + (cell?.[what] ?? 0), 0);
  // Sums of fractions are off by a little: three of 0.1 are more than 0.3.
  if (used + wanted <= limit * (1 + tolerance)) return undefined;
  return over(
    `Your tenant has cells for ${used} ${words[what]}, this one is for ${wanted}, and ${limit} is the limit. Delete some first.`,
    { limit, used, wanted, of: what },
  );
}

function over(message: string, details: Record<string, unknown>): WorkcellError {
  return new WorkcellError('rate-limited', message, { details });
}
