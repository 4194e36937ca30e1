/** Events in one SQLite file, for many runtimes and many processes at once. */
import { utimesSync, watch as watchDirectory } from 'node:fs';
import { basename, dirname } from 'node:path';
import type {
  DatabaseSyncInstance as DatabaseSync,
  StatementSyncInstance as StatementSync,
} from '@photostructure/sqlite';
import { WorkcellError, type WorkcellEvent } from '../../../protocol/index.js';
import type {
  EventStore,
  ListedRuntime,
  ReadQuery,
  Retention,
  RuntimesQuery,
  StoredRuntime,
  Watch,
} from '../event-store.js';
import { collectPages } from '../pages.js';
import { closedText, eventsOf, type Row, toRow } from '../rows.js';
import { Compaction } from './sqlite-compaction.js';
import { openDatabase, unavailable } from './sqlite-database.js';
import { SqliteLedger, SqliteMailbox } from './sqlite-mailbox.js';
import { selectEvents } from './sqlite-query.js';
import { migrations } from './sqlite-schema.js';

const announceMs = 1;

const kind = { what: 'event store', setting: 'events.store', migrations };

export async function openSqlite(file: string, durability: 'process' | 'machine'): Promise<EventStore> {
  return new SqliteStore(file, await openDatabase(file, durability, kind));
}

class SqliteStore implements EventStore {
  readonly name: string;
  readonly immediate = true;
  readonly #file: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #compaction: Compaction;
  readonly #add: StatementSync;
  #announcing: NodeJS.Timeout | undefined;
  readonly mailbox: SqliteMailbox;
  readonly ledger: SqliteLedger;
  readonly #onExit = () => this.close();

  constructor(file: string, database: DatabaseSync) {
    this.name = `sqlite:${file}`;
    this.#file = file;
    this.#database = database;
    this.#add = database.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
    this.#compaction = new Compaction(database, (sql) => this.#prepare(sql));
    const tables = {
      prepare: (sql: string) => this.#prepare(sql),
      read: <Result>(work: () => Result) => this.#guarded(work),
      transaction: <Result>(work: () => Result) => this.#transaction(work),
    };
    this.mailbox = new SqliteMailbox(tables);
    this.ledger = new SqliteLedger(tables);
    // A clean end leaves one file instead of three.
    process.once('exit', this.#onExit);
  }

  append(events: readonly WorkcellEvent[]): void {
    const rows = events.map(toRow);
    const [only] = rows;
    // A single statement is its own transaction, without the two that begin and end one.
    if (rows.length === 1 && only !== undefined && only.long.length === 0) {
      this.#guarded(() => this.#insert(only));
      this.#announce();
    } else
      this.#transaction(() => {
        for (const row of rows) this.#insert(row);
      });
  }

  read(runtimeId: string, query: ReadQuery): Promise<WorkcellEvent[]> {
    return collectPages(query, (after) => {
      const { sql, values } = selectEvents(runtimeId, { ...query, after });
      return this.#guarded(() =>
        eventsOf(this.#prepare(sql).iterate(...values) as unknown as Iterable<Row>, query, (digest) =>
          this.#textOf(digest, query.cutTexts),
        ),
      );
    });
  }

  last(runtimeId: string): number {
    const row = this.#guarded(() =>
      this.#prepare('SELECT max(id) AS id FROM events WHERE runtime = ?').get(runtimeId),
    );
    return Number((row as { id: number | null }).id ?? 0);
  }

  runtimes(): StoredRuntime[] {
    // Steps from one runtime to the next, without reading the events between.
    const rows = this.#guarded(() =>
      this.#prepare(`
        WITH RECURSIVE found (runtime) AS (
          SELECT min(runtime) FROM events
          UNION ALL
          SELECT (SELECT min(runtime) FROM events WHERE runtime > found.runtime) FROM found WHERE found.runtime IS NOT NULL
        ), ends AS (
          SELECT runtime,
            (SELECT min(id) FROM events WHERE runtime = found.runtime) AS firstId,
            (SELECT max(id) FROM events WHERE runtime = found.runtime) AS lastId
          FROM found WHERE runtime IS NOT NULL
        )
        SELECT runtime AS runtimeId, firstId, lastId,
          (SELECT at FROM events WHERE runtime = ends.runtime AND id = firstId) AS firstAt,
          (SELECT at FROM events WHERE runtime = ends.runtime AND id = lastId) AS lastAt
        FROM ends ORDER BY firstAt DESC`).all(),
    );
    return rows.map((row) => ({ ...(row as unknown as StoredRuntime) }));
  }

  page({ limit, before, ids }: RuntimesQuery): ListedRuntime[] {
    const behind = before === undefined ? '' : 'AND (began_at, runtime) < (?, ?)';
    const among = ids === undefined ? '' : 'AND runtime IN (SELECT value FROM json_each(?))';
    const values = [
      ...(before === undefined ? [] : [before.at, before.id]),
      ...(ids === undefined ? [] : [JSON.stringify(ids)]),
    ];
    const rows = this.#guarded(() =>
      this.#prepare(`
        WITH ends AS (
          SELECT runtime, began_at AS beganAt,
            (SELECT min(id) FROM events WHERE events.runtime = runtimes.runtime) AS firstId,
            (SELECT max(id) FROM events WHERE events.runtime = runtimes.runtime) AS lastId
          FROM runtimes
          -- An older version that compacts leaves the row of a runtime whose events are gone.
          WHERE EXISTS (SELECT 1 FROM events WHERE events.runtime = runtimes.runtime) ${behind} ${among} ORDER BY began_at DESC, runtime DESC LIMIT ?
        )
        SELECT runtime AS runtimeId, beganAt, firstId, lastId,
          (SELECT at FROM events WHERE runtime = ends.runtime AND id = firstId) AS firstAt,
          (SELECT at FROM events WHERE runtime = ends.runtime AND id = lastId) AS lastAt
        FROM ends ORDER BY beganAt DESC, runtime DESC`).all(...values, limit),
    );
    return rows.map((row) => ({ ...(row as unknown as ListedRuntime) }));
  }

  compact(retention: Retention): boolean {
    return this.#transaction(() => this.#compaction.step(retention, () => this.runtimes().toReversed()));
  }

  watch(_runtimeId: string, onChange: () => void): Watch {
    const name = basename(this.#file);
    const watcher = watchDirectory(dirname(this.#file), (_, changed) => {
      if (changed === null || changed.startsWith(name)) onChange();
    });
    return { close: () => watcher.close() };
  }

  close(): void {
    process.off('exit', this.#onExit);
    if (!this.#database.isOpen) return;
    // The driver releases the file when the garbage collector takes its statements; this puts everything into the
    // file now.
    this.#statements.clear();
    this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    this.#database.close();
    if (this.#announcing !== undefined) this.#touch();
  }

  #insert({ row, long }: ReturnType<typeof toRow>): void {
    const { runtime, id, at, kind, source, cause, body, texts } = row;
    this.#add.run(runtime, id, at, kind, source, cause, body, texts);
    for (const { digest, json } of long) {
      this.#prepare('INSERT OR IGNORE INTO texts VALUES (?, ?)').run(digest, json);
      this.#prepare('INSERT INTO text_uses VALUES (?, ?, ?)').run(digest, runtime, id);
    }
  }

  #textOf(digest: string, longest: number | undefined): string | undefined {
    const row = this.#prepare(
      longest === undefined
        ? 'SELECT json FROM texts WHERE digest = ?'
        : `SELECT substr(json, 1, ${longest}) AS json FROM texts WHERE digest = ?`,
    ).get(digest) as { json: string } | undefined;
    return row === undefined ? undefined : closedText(row.json, longest);
  }

  #prepare(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #transaction<Result>(work: () => Result): Result {
    return this.#guarded(() => {
      this.#prepare('BEGIN IMMEDIATE').run();
      try {
        const result = work();
        this.#prepare('COMMIT').run();
        this.#announce();
        return result;
      } catch (error) {
        if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
        throw error;
      }
    });
  }

  /**
   * The write wakes the watchers of the file, but they see its result only a moment later: this wakes them again once
   * they do. Once for all events until then, and after the callers that wait for the write have continued: a short
   * command is answered before this.
   */
  #announce(): void {
    this.#announcing ??= setTimeout(() => this.#touch(), announceMs).unref();
  }

  /** By its path, because closing a second descriptor of the file would drop the locks of the first. */
  #touch(): void {
    clearTimeout(this.#announcing);
    this.#announcing = undefined;
    const now = Date.now() / 1000;
    try {
      utimesSync(this.#file, now, now);
    } catch {
      // Nobody watches a file that has moved away.
    }
  }

  #guarded<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      if (WorkcellError.isInstance(error)) throw error;
      throw unavailable(this.#file, error, kind);
    }
  }
}
