/**
 * How many requests are open at once, by tenant and by key, and how many come in a second. Streams and long actions of one tenant could otherwise take
 * every connection of the service.
 */
import { defaultHttpLimits } from '../base/http/http-options.js';
import { Rate } from '../base/http/rate.js';
import { WorkcellError } from '../protocol/index.js';
import { OpenCounts } from './open-counts.js';
import type { CellRecord, KeyRecord } from './service-store.js';

/** Connections that tenants cannot take: the operator and probes of health come through them. */
const kept = 256;

/** What one key may have of the share of its tenant, so that another key of the tenant still gets through. */
const shareOfKey = 3 / 4;

/** How many keys to remember the rate of; one that comes back after so many others begins anew. */
const mostRates = 10_000;

export interface RequestLimits {
  /** Of one key. */
  readonly requestsPerSecond: number;
  readonly maxRequestsPerTenant: number;
  readonly tenants: Readonly<Record<string, { readonly maxRequests?: number | undefined }>>;
}

export class RequestShares {
  readonly #limits: RequestLimits;
  readonly #counts = new OpenCounts();
  readonly #rates = new Map<string, Rate>();

  constructor(limits: RequestLimits) {
    this.#limits = limits;
  }

  /** Throws when one of them has as many as it may. Returns the function that counts this request out again. */
  enter({ tenant, id, role }: Pick<KeyRecord, 'tenant' | 'id'> & Partial<KeyRecord>): () => void {
    if (role === 'operator') return () => {};
    this.#checkRate(id);
    const { maxRequestsPerTenant, tenants } = this.#limits;
    const own = Object.hasOwn(tenants, tenant) ? tenants[tenant]?.maxRequests : undefined;
    const most = own ?? maxRequestsPerTenant;
    const entered: (() => void)[] = [];
    const leave = () => {
      for (const out of entered) out();
    };
    const enter = (name: string, limit: number, whose: string) => {
      const out = this.#counts.enter(name, limit);
      if (out !== undefined) return void entered.push(out);
      leave();
      throw new WorkcellError(
        'rate-limited',
        `${whose} has ${limit} open requests, which is the most. End some, or try again later.`,
        { details: { limit, retryAfterMs: 1000 } },
      );
    };
    enter(`key ${id}`, Math.ceil(most * shareOfKey), 'Your key');
    enter(`tenant ${tenant}`, most, 'Your tenant');
    enter('all', defaultHttpLimits.connections - kept, 'The service');
    return leave;
  }

  /**
   * For a request inside a cell, with what the cell's protocol gave the holder of a key; none where it lets anybody in. What
   * the operator gave away is not the operator, so it counts by its cell.
   */
  enterCell({ tenant, id }: CellRecord, key: KeyRecord | undefined): () => void {
    return this.enter(key === undefined || key.role === 'operator' ? { tenant, id } : key);
  }

  #checkRate(id: string): void {
    const { requestsPerSecond: limit } = this.#limits;
    const rate = this.#rates.get(id) ?? new Rate(limit, Math.max(1, limit * 2));
    // Those that came last stand last.
    this.#rates.delete(id);
    this.#rates.set(id, rate);
    const [oldest] = this.#rates.keys();
    if (this.#rates.size > mostRates && oldest !== undefined) this.#rates.delete(oldest);
    if (rate.take()) return;
    throw new WorkcellError('rate-limited', `Your key may send ${limit} requests a second.`, {
      details: { limit, of: 'requests a second', retryAfterMs: Math.ceil(rate.waitMs()) },
    });
  }
}
