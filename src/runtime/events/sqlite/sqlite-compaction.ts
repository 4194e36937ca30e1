/** Removes old events, oldest first, a small step at a time so that nobody waits for it. */
import type {
  DatabaseSyncInstance as DatabaseSync,
  StatementSyncInstance as StatementSync,
} from '@photostructure/sqlite';
import type { Retention, StoredRuntime } from '../event-store.js';
import { placesOf, type Row } from '../rows.js';

const stepEvents = 200;
/** A smaller step where size matters, to remove little more than necessary. */
const stepEventsBySize = 20;
const stepPages = 64;

/** The columns that removing an event needs: its body may be long. */
type StoredKey = Pick<Row, 'runtime' | 'id' | 'at' | 'texts'>;

export class Compaction {
  readonly #database: DatabaseSync;
  readonly #prepare: (sql: string) => StatementSync;
  #oldestFirst: StoredRuntime[] | undefined;

  constructor(database: DatabaseSync, prepare: (sql: string) => StatementSync) {
    this.#database = database;
    this.#prepare = prepare;
  }

  /** True while there is more to do. */
  step(
    { olderThan = 0, maxBytes = Number.POSITIVE_INFINITY, restMs = 0 }: Retention,
    list: () => StoredRuntime[],
  ): boolean {
    const tooLarge = this.#usedBytes() > maxBytes;
    if (this.#oldestFirst === undefined) {
      if (!tooLarge && Date.now() - this.#lastAt() < restMs) return false;
      this.#prepare('DELETE FROM compactions').run();
      this.#prepare('INSERT INTO compactions VALUES (?)').run(Date.now());
      this.#oldestFirst = list();
    }
    const [oldest] = this.#oldestFirst;
    if (oldest !== undefined && (tooLarge || oldest.firstAt < olderThan)) {
      const limit = tooLarge ? stepEventsBySize : stepEvents;
      const gone = this.#remove(oldest.runtimeId, tooLarge ? Number.POSITIVE_INFINITY : olderThan, limit);
      // The rest of it is younger, or it is empty.
      if (gone < limit) this.#oldestFirst.shift();
      return true;
    }
    const free = this.#pragma('freelist_count');
    if (free > 0) this.#database.exec(`PRAGMA incremental_vacuum(${stepPages})`);
    if (free > stepPages) return true;
    this.#oldestFirst = undefined;
    return false;
  }

  /** Removes the first events of a runtime up to a time, as many as a step takes, and the texts only they used. */
  #remove(runtime: string, olderThan: number, limit: number): number {
    const rows = this.#prepare(
      'SELECT runtime, id, at, texts FROM events WHERE runtime = ? ORDER BY id LIMIT ?',
    ).all(runtime, limit) as unknown as StoredKey[];
    const young = rows.findIndex((row) => row.at >= olderThan);
    const gone = young === -1 ? rows : rows.slice(0, young);
    const last = gone.at(-1);
    if (last === undefined) return 0;
    this.#prepare('DELETE FROM events WHERE runtime = ? AND id <= ?').run(runtime, last.id);
    this.#prepare(
      'DELETE FROM runtimes WHERE runtime = ?1 AND NOT EXISTS (SELECT 1 FROM events WHERE runtime = ?1)',
    ).run(runtime);
    for (const row of gone) for (const [, digest] of placesOf(row)) this.#forget(digest, row);
    return gone.length;
  }

  #forget(digest: string, { runtime, id }: StoredKey): void {
    this.#prepare('DELETE FROM text_uses WHERE digest = ? AND runtime = ? AND id = ?').run(
      digest,
      runtime,
      id,
    );
    this.#prepare(
      'DELETE FROM texts WHERE digest = ?1 AND NOT EXISTS (SELECT 1 FROM text_uses WHERE digest = ?1)',
    ).run(digest);
  }

  #lastAt(): number {
    const row = this.#prepare('SELECT max(at) AS at FROM compactions').get() as { at: number | null };
    return Number(row.at ?? 0);
  }

  #usedBytes(): number {
    return (this.#pragma('page_count') - this.#pragma('freelist_count')) * this.#pragma('page_size');
  }

  #pragma(name: string): number {
    return Number(Object.values(this.#prepare(`PRAGMA ${name}`).get() as Record<string, number>)[0]);
  }
}
