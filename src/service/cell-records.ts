/** The records of the cells: in memory and in the store, changed in one place, with those told who listen. */
import { WorkcellError } from '../protocol/index.js';
import type { AskedRequest } from './asked-before.js';
import { counted } from './cell-usage.js';
import type { CellRecord, ServiceStore } from './service-store.js';

/** A cell that is new, has another record, or is gone. */
export interface CellChange {
  readonly record: CellRecord;
  readonly before: CellRecord | undefined;
  readonly isGone: boolean;
}

export class CellRecords {
  readonly #store: ServiceStore;
  readonly #records = new Map<string, CellRecord>();
  readonly #listeners = new Set<(change: CellChange) => void>();
  /** What the store has not taken yet, with what to write. */
  readonly #owed = new Map<string, () => void>();

  constructor(store: ServiceStore) {
    this.#store = store;
    for (const record of store.cells()) this.#records.set(record.id, record);
  }

  get all(): ReadonlyMap<string, CellRecord> {
    return this.#records;
  }

  /** A record that must be there. */
  known(id: string): CellRecord {
    const record = this.#records.get(id);
    if (record !== undefined) return record;
    throw new WorkcellError('cell-not-found', `There is no cell "${id}" any more.`, {
      details: { cell: id },
    });
  }

  /** `request`: what asked for it. */
  add(record: CellRecord, request: AskedRequest | undefined): void {
    this.#store.putCell(record, request);
    this.#set(record, undefined);
    this.#pay();
  }

  /** Changes the current record: another change may have come while the caller waited. */
  patch(id: string, fields: Partial<CellRecord>): CellRecord {
    const before = this.known(id);
    const { record = before, usage } = counted(before, { ...before, ...fields });
    this.#store.putCell(record, undefined, usage);
    this.#owed.delete(id);
    this.#set(record, before);
    return record;
  }

  /**
   * What became of a start that failed: its cell is lost or, without `state`, gone. Memory says so at once, and the store when
   * it takes it. Until then a start that goes on stands there, and the next process ends that.
   */
  settle(id: string, state: 'lost' | undefined, onRefusal: (error: unknown) => void): void {
    const before = this.known(id);
    const lost = { ...before, ...(state !== undefined && { state }) };
    const write =
      state === undefined ? () => this.#store.endCell(before, []) : () => this.#store.putCell(lost);
    try {
      write();
    } catch (error) {
      onRefusal(error);
      this.#owed.set(id, write);
    }
    if (state !== undefined) {
      this.#set(lost, before);
      return;
    }
    this.#records.delete(id);
    this.#tell({ record: before, before, isGone: true });
  }

  /** Notes in memory when it was last used; the store learns it with the next change. */
  used(id: string, usedAt: number): void {
    const record = this.#records.get(id);
    if (record !== undefined) this.#records.set(id, { ...record, usedAt });
  }

  forget(id: string): void {
    const record = this.known(id);
    this.#store.endCell(record, counted(record, undefined).usage);
    this.#owed.delete(id);
    this.#records.delete(id);
    this.#tell({ record, before: record, isGone: true });
  }

  /** Calls it with each change from now on. Returns the function that stops this. */
  listen(listener: (change: CellChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The store takes writes, so it gets those that it refused before. */
  #pay(): void {
    for (const [id, write] of this.#owed) {
      try {
        write();
      } catch {
        return;
      }
      this.#owed.delete(id);
    }
  }

  #set(record: CellRecord, before: CellRecord | undefined): void {
    this.#records.set(record.id, record);
    this.#tell({ record, before, isGone: false });
  }

  #tell(change: CellChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}
