/** Whether there is room for one more cell, of its tenant and in the service, besides those that are started ahead. */
import type { CellPool } from './cell-pool.js';
import { CellQuotas, type ServiceLimits } from './cell-quotas.js';
import type { CellRecord } from './service-store.js';
import type { Declared, Template } from './templates.js';

interface Parts {
  readonly records: ReadonlyMap<string, CellRecord>;
  readonly templates: ReadonlyMap<string, Template>;
  readonly limits: ServiceLimits;
  /** Free memory of the machine. */
  readonly freeBytes?: (() => number) | undefined;
}

export class CellRoom {
  readonly #parts: Parts;
  readonly #quotas: CellQuotas;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#quotas = new CellQuotas(parts.limits, parts.freeBytes);
  }

  /** Throws unless the tenant may have one more that it asks for. Those ahead give way to it. */
  check(tenant: string, template: Template): void {
    const { records } = this.#parts;
    this.#quotas.check(tenant, template, { own: this.#declared(tenant), all: records.size });
  }

  /** Throws without memory for one more start. */
  checkMemory(): void {
    this.#quotas.checkMemory();
  }

  /** Whether one more may start that nobody has asked for. */
  mayStartAhead(pool: CellPool, tenant: string, template: Template): boolean {
    return this.#left(pool) > 0 && this.#fits(pool, tenant, template);
  }

  /** Ends cells ahead until one that somebody asks for has room. */
  async make(pool: CellPool, tenant: string, template: Template): Promise<void> {
    const ending: Promise<void>[] = [];
    while (!this.#fits(pool, tenant, template)) {
      const one = pool.evict(tenant);
      if (one === undefined) break;
      ending.push(one);
    }
    const other = this.#left(pool) > 0 ? undefined : pool.evict();
    if (other !== undefined) ending.push(other);
    await Promise.all(ending);
  }

  #left(pool: CellPool): number {
    const { limits, records } = this.#parts;
    return limits.maxCells - records.size - pool.size;
  }

  #fits(pool: CellPool, tenant: string, template: Template): boolean {
    return this.#quotas.mayHave(tenant, template, [...this.#declared(tenant), ...pool.declared(tenant)]);
  }

  /** Records of earlier versions do not tell it: then it is what their template declares now. */
  #declared(tenant: string): (Declared | undefined)[] {
    const { records, templates } = this.#parts;
    return [...records.values()]
      .filter((record) => record.tenant === tenant)
      .map(({ declared, template }) => declared ?? templates.get(template)?.declared);
  }
}
