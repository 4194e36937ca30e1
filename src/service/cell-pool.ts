/**
 * Cells that are started ahead, for tenants that made one from the same template before. Spare cells belong to one
 * tenant, because cells of two never share a process.
 */
import type { Runtime } from '../index.js';
import type { CellRecord } from './service-store.js';
import type { Template } from './templates.js';

export interface Spare {
  readonly record: CellRecord;
  readonly runtime: Runtime;
}

interface Parts {
  /** Starts a cell that nobody has asked for yet. */
  start(tenant: string, template: Template): Promise<Spare>;
  end(spare: Spare): Promise<void>;
  /** How many more the service may have. */
  room(): number;
  onFailure(error: unknown): void;
}

/** A tenant that makes no more cells from a template for so long needs none ahead. */
const keptMs = 600_000;

interface Shelf {
  readonly spares: Spare[];
  starting: number;
  timer?: NodeJS.Timeout;
}

export class CellPool {
  readonly #parts: Parts;
  readonly #shelves = new Map<string, Shelf>();
  readonly #under = new Set<Promise<unknown>>();
  #closed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Cells that wait here, and those on their way. */
  get size(): number {
    let size = 0;
    for (const { spares, starting } of this.#shelves.values()) size += spares.length + starting;
    return size;
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
    const shelf = this.#shelves.get(name) ?? { spares: [], starting: 0 };
    this.#shelves.set(name, shelf);
    clearTimeout(shelf.timer);
    shelf.timer = setTimeout(() => this.#empty(name), keptMs);
    shelf.timer.unref();
    while (shelf.spares.length + shelf.starting < most && this.#parts.room() > 0)
      this.#add(shelf, tenant, template);
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

  /** Ends one that was taken and cannot be used. */
  end(spare: Spare): true {
    this.#watch(this.#parts.end(spare));
    return true;
  }

  /** Ends them all: the next process starts its own. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const name of this.#shelves.keys()) this.#empty(name);
    while (this.#under.size > 0) await Promise.allSettled(this.#under);
  }

  #add(shelf: Shelf, tenant: string, template: Template): void {
    shelf.starting++;
    this.#watch(
      this.#parts
        .start(tenant, template)
        .finally(() => shelf.starting--)
        .then((spare) => {
          if (this.#closed || this.#shelves.get(nameOf(tenant, template)) !== shelf) this.end(spare);
          else shelf.spares.push(spare);
        }),
    );
  }

  #empty(name: string): void {
    const shelf = this.#shelves.get(name);
    clearTimeout(shelf?.timer);
    this.#shelves.delete(name);
    for (const spare of shelf?.spares ?? []) this.end(spare);
  }

  #watch(work: Promise<unknown>): void {
    const done: Promise<unknown> = work
      .catch((error: unknown) => this.#parts.onFailure(error))
      .then(() => this.#under.delete(done));
    this.#under.add(done);
  }
}

function nameOf(tenant: string, { name }: Template): string {
  return `${tenant} ${name}`;
}
