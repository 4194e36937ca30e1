/** Compares the records of the service with the cells that exist: when it starts, and again and again. */
import type { CellRecord } from './service-store.js';

const everyMs = 60_000;

interface Parts {
  readonly records: ReadonlyMap<string, CellRecord>;
  /** Its idle time begins anew. */
  use(id: string): void;
  /** Whether each of these cells still exists, by id; says nothing of those whose backend does not answer. */
  find(records: readonly CellRecord[]): Promise<ReadonlyMap<string, boolean>>;
  /** This process works in it, and hears when it dies. */
  isHeld(id: string): boolean;
  isChanging(id: string): boolean;
  end(record: CellRecord): Promise<void>;
  forget(id: string): Promise<void>;
  lose(id: string): Promise<void>;
  onFailure(id: string, error: unknown): void;
}

export class CellSurvey {
  readonly #parts: Parts;
  /** Those that the backend did not show the last time. */
  #missing: ReadonlySet<string> = new Set();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Ends cells whose start was interrupted, marks missing ones as `lost`, and begins to look every minute. */
  async first(): Promise<void> {
    const { records, find, lose, use } = this.#parts;
    const known = [...records.values()];
    const found = await find(known);
    for (const record of known) {
      if (record.state === 'starting') await this.#abandon(record, found.get(record.id) ?? true);
      else if (found.get(record.id) === false) await lose(record.id);
      // A process that was killed did not write down when it used its cells, so idle times begin anew.
      else if (record.state === 'running') use(record.id);
    }
    this.#again();
  }

  /** Whether a cell is still there; `lost` only when its backend says that it is not. */
  async look(id: string): Promise<void> {
    const { records, isHeld, find, lose } = this.#parts;
    const record = records.get(id);
    if (record === undefined || isHeld(id)) return;
    const found = await find([record]);
    if (found.get(id) === false) await lose(id);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #again(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      const look = this.#lookAtAll().catch((error: unknown) => this.#parts.onFailure('any', error));
      void look.then(() => this.#again());
    }, everyMs);
    this.#timer.unref();
  }

  /**
   * Looks at the cells that no request has used since the service started: nothing else tells that one of them died.
   * `lost` is for good, so a cell must be missing twice in a row.
   */
  async #lookAtAll(): Promise<void> {
    const { records, isHeld, isChanging, find, lose } = this.#parts;
    const isUnwatched = ({ id, state }: CellRecord) =>
      (state === 'running' || state === 'paused') && !isHeld(id) && !isChanging(id);
    const asked = [...records.values()].filter(isUnwatched);
    if (asked.length === 0) return;
    const found = await find(asked);
    if (this.#closed) return;
    // One may have ended or been used while the backend answered.
    const current = asked.flatMap(({ id }) => records.get(id) ?? []).filter(isUnwatched);
    const missing = current.map(({ id }) => id).filter((id) => found.get(id) === false);
    for (const id of missing) if (this.#missing.has(id)) await lose(id);
    // While a backend does not answer, what it said before still counts.
    const unsaid = asked.map(({ id }) => id).filter((id) => this.#missing.has(id) && !found.has(id));
    this.#missing = new Set([...missing, ...unsaid]);
  }

  /**
   * Ends a start that the previous process did not finish. If the backend still shows the cell and we cannot attach
   * to it, keeps it as `lost`, so that an operator looks after it.
   */
  async #abandon(record: CellRecord, isThere: boolean): Promise<void> {
    const { end, find, forget, lose, onFailure } = this.#parts;
    try {
      await end(record);
      const left = isThere && (await find([record])).get(record.id) !== false;
      if (!left) return await forget(record.id);
    } catch (error) {
      onFailure(record.id, error);
    }
    await lose(record.id);
  }
}
