/** The records of the cells: in memory and in the store, changed in one place, with those told who listen. */
import { WorkcellError } from '../protocol/index.js';
import type { AskedRequest } from './asked-before.js';
import { counted } from './cell-usage.js';
import type { Awaitable, CellRecord, ServiceStore } from './service-store.js';
import { Turns } from './turns.js';

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
  readonly #owed = new Map<string, () => Awaitable<void>>();
  /** Changes of one record follow each other. */
  readonly #turns = new Turns();

  constructor(store: ServiceStore) {
    this.#store = store;
  }

  /** Reads what the process before left. */
  async load(): Promise<void> {
    for (const record of await this.#store.cells()) this.#records.set(record.id, record);
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

  /** `request`: what asked for it. Its name is taken at once, so that no other cell gets it while the store writes. */
  async add(record: CellRecord, request: AskedRequest | undefined): Promise<void> {
    this.#set(record, undefined);
    try {
      // What the store still has of a failed start may have the same name.
      await this.#pay();
      await this.#store.putCell(record, request);
    } catch (error) {
      this.#records.delete(record.id);
      this.#tell({ record, before: record, isGone: true });
      // The answer of the store may be what got lost.
      this.#owed.set(record.id, () => this.#store.removeCell(record));
      throw error;
    }
  }

  /** Changes the current record: another change may have come while the caller waited. */
  patch(
    id: string,
    fields: Partial<CellRecord> | ((current: CellRecord) => Partial<CellRecord>),
  ): Promise<CellRecord> {
    return this.#turns.take(id, async () => {
      const before = this.known(id);
      const { record = before, usage } = counted(before, {
        ...before,
        ...(typeof fields === 'function' ? fields(before) : fields),
      });
      await this.#store.putCell(record, undefined, usage);
      this.#owed.delete(id);
      const { usedAt } = this.known(id);
      const current = { ...record, usedAt };
      this.#set(current, before);
      return current;
    });
  }

  /**
   * What became of a start that failed: its cell is lost or, without `state`, gone. Memory says so at once, and the store when
   * it takes it. Until then a start that goes on stands there, and the next process ends that.
   */
  settle(id: string, state: 'lost' | undefined, onRefusal: (error: unknown) => void): Promise<void> {
    return this.#turns.take(id, async () => {
      const before = this.known(id);
      const lost = { ...before, ...(state !== undefined && { state }) };
      const write =
        state === undefined ? () => this.#store.endCell(before, []) : () => this.#store.putCell(lost);
      try {
        await write();
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
    });
  }

  /** Notes in memory when it was last used; the store learns it with the next change. */
  used(id: string, usedAt: number): void {
    const record = this.#records.get(id);
    if (record !== undefined) this.#records.set(id, { ...record, usedAt });
  }

  forget(id: string): Promise<void> {
    return this.#turns.take(id, async () => {
      const record = this.known(id);
      await this.#store.endCell(record, counted(record, undefined).usage);
      this.#owed.delete(id);
      this.#records.delete(id);
      this.#tell({ record, before: record, isGone: true });
    });
  }

  /** Calls it with each change from now on. Returns the function that stops this. */
  listen(listener: (change: CellChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Writes what the store refused before. */
  async #pay(): Promise<void> {
    for (const id of this.#owed.keys())
      await this.#turns.take(id, async () => {
        await this.#owed.get(id)?.();
        this.#owed.delete(id);
      });
  }

  #set(record: CellRecord, before: CellRecord | undefined): void {
    this.#records.set(record.id, record);
    this.#tell({ record, before, isGone: false });
  }

  #tell(change: CellChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}
