/**
 * Cells that are started ahead, for tenants that made one from the same template before. Spare cells belong to one
 * tenant, because cells of two never share a process.
 */
import type { Runtime } from '../index.js';
import type { CellRecord } from './service-store.js';
import type { Declared, Template } from './templates.js';

export interface Spare {
  readonly record: CellRecord;
  readonly runtime: Runtime;
}

interface Parts {
  /** Starts a cell that nobody has asked for yet; none if it is not wanted any more when its turn comes. */
  start(tenant: string, template: Template, isWanted: () => boolean): Promise<Spare | undefined>;
  /** `isAgain`: an attempt before failed, and a runtime tries only once. */
  end(spare: Spare, isAgain: boolean): Promise<void>;
  /** Whether the service and the tenant may have one more. */
  hasRoom(tenant: string, template: Template): boolean;
  onFailure(error: unknown): void;
}

/** A tenant that makes no more cells from a template for so long needs none ahead. */
const keptMs = 600_000;

/** How long to wait before ending one again that could not be ended. */
const retryMs = 30_000;

/** One on its way. */
interface Coming {
  isWanted: boolean;
  /** Settles when it is on the shelf, or gone. */
  settled: Promise<void>;
}

interface Shelf {
  readonly tenant: string;
  readonly template: Template;
  readonly spares: Spare[];
  readonly coming: Set<Coming>;
  timer?: NodeJS.Timeout;
}

export class CellPool {
  readonly #parts: Parts;
  readonly #shelves = new Map<string, Shelf>();
  readonly #under = new Set<Promise<unknown>>();
  /** Those that could not be ended, and are tried again. */
  readonly #stuck = new Map<Spare, NodeJS.Timeout>();
  #closed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Cells that wait here, those on their way, and those that could not be ended. */
  get size(): number {
    let size = this.#stuck.size;
    for (const { spares, coming } of this.#shelves.values()) size += spares.length + coming.size;
    return size;
  }

  /** What each of those that belong to a tenant may take. */
  declared(tenant: string): (Declared | undefined)[] {
    const stuck = [...this.#stuck.keys()].filter(({ record }) => record.tenant === tenant);
    return [
      ...stuck.map(({ record }) => record.declared),
      ...this.#of(tenant).flatMap(({ template, spares, coming }) =>
        Array.from({ length: spares.length + coming.size }, () => template.declared),
      ),
    ];
  }

  /** Those that wait here. */
  get ready(): number {
    let ready = 0;
    for (const { spares } of this.#shelves.values()) ready += spares.length;
    return ready;
  }

  /** One that is ready, which is the caller's from now on. */
  take(tenant: string, template: Template): Spare | undefined {
    return this.#shelves.get(nameOf(tenant, template))?.spares.shift();
  }

  /** Starts as many as are missing, behind the caller's back. */
  fill(tenant: string, template: Template): void {
    const { pool: most = 0 } = template;
    if (most === 0 || this.#closed) return;
    const name = nameOf(tenant, template);
    const shelf = this.#shelves.get(name) ?? { tenant, template, spares: [], coming: new Set() };
    this.#shelves.set(name, shelf);
    clearTimeout(shelf.timer);
    shelf.timer = setTimeout(() => this.#empty(name), keptMs);
    shelf.timer.unref();
    while (shelf.spares.length + shelf.coming.size < most && this.#parts.hasRoom(tenant, template))
      this.#add(shelf);
  }

  /** A spare cell that died is given to nobody. Tells whether there was one. */
  drop(id: string): boolean {
    for (const { spares } of this.#shelves.values()) {
      const at = spares.findIndex(({ record }) => record.id === id);
      const [spare] = at < 0 ? [] : spares.splice(at, 1);
      if (spare !== undefined) return this.end(spare);
    }
    return false;
  }

  /** Gives up one of them, of that tenant, so that somebody can have its place once this settles; none if there is none. */
  evict(tenant?: string): Promise<void> | undefined {
    const shelves = this.#of(tenant);
    for (const { spares } of shelves) {
      const spare = spares.shift();
      if (spare !== undefined) return this.#watch(this.#tryEnd(spare));
    }
    for (const { coming } of shelves) {
      const [one] = coming;
      if (one === undefined) continue;
      one.isWanted = false;
      coming.delete(one);
      return one.settled;
    }
    return undefined;
  }

  /** Ends one that was taken and cannot be used. */
  end(spare: Spare): true {
    void this.#watch(this.#tryEnd(spare));
    return true;
  }

  /** Ends them all: the next process starts its own. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const name of this.#shelves.keys()) this.#empty(name);
    for (const spare of this.#stuck.keys()) this.end(spare);
    while (this.#under.size > 0) await Promise.allSettled(this.#under);
  }

  #of(tenant: string | undefined): Shelf[] {
    return [...this.#shelves.values()].filter((shelf) => tenant === undefined || shelf.tenant === tenant);
  }

  #add(shelf: Shelf): void {
    const { tenant, template } = shelf;
    const coming: Coming = { isWanted: true, settled: Promise.resolve() };
    shelf.coming.add(coming);
    const isWanted = () => coming.isWanted && !this.#closed && this.#shelves.get(name) === shelf;
    const name = nameOf(tenant, template);
    const work = async () => {
      try {
        const spare = await this.#parts.start(tenant, template, isWanted);
        if (spare !== undefined && isWanted()) shelf.spares.push(spare);
        else if (spare !== undefined) await this.#tryEnd(spare);
      } finally {
        shelf.coming.delete(coming);
      }
    };
    coming.settled = this.#watch(work());
  }

  /** Nobody else would end it: it has no owner, and only this process knows it. */
  async #tryEnd(spare: Spare): Promise<void> {
    clearTimeout(this.#stuck.get(spare));
    try {
      await this.#parts.end(spare, this.#stuck.has(spare));
      this.#stuck.delete(spare);
    } catch (error) {
      const timer = setTimeout(() => this.end(spare), retryMs);
      timer.unref();
      // The next process ends what this one leaves.
      if (this.#closed) clearTimeout(timer);
      this.#stuck.set(spare, timer);
      throw error;
    }
  }

  #empty(name: string): void {
    const shelf = this.#shelves.get(name);
    clearTimeout(shelf?.timer);
    this.#shelves.delete(name);
    for (const spare of shelf?.spares ?? []) this.end(spare);
  }

  #watch(work: Promise<unknown>): Promise<void> {
    const done: Promise<void> = work
      .catch((error: unknown) => this.#parts.onFailure(error))
      .then(() => void this.#under.delete(done));
    this.#under.add(done);
    return done;
  }
}

function nameOf(tenant: string, { name }: Template): string {
  return `${tenant} ${name}`;
}
