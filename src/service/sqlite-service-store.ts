/** The store of a service in one SQLite file, for one process. */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import type {
  DatabaseSyncInstance as DatabaseSync,
  StatementSyncInstance as StatementSync,
} from '@photostructure/sqlite';
import { type Lease, tryLease } from '../backends/lease.js';
import { WorkcellError } from '../protocol/index.js';
import { openDatabase, unavailable } from '../runtime/events/sqlite/sqlite-database.js';
import type { UsagePiece, UsageRow } from './cell-usage.js';
import {
  type AnsweredRequest,
  actionsBetween,
  actionsKeptMs,
  actionsRemoved,
  type CellRecord,
  type CheckpointRecord,
  endedKeptMs,
  endedRemoved,
  type KeyRecord,
  type MadeAt,
  type Page,
  requestsKeptMs,
  type ServiceStore,
} from './service-store.js';

type Prepare = (sql: string) => StatementSync;

/** The schema, as the steps that lead to it. Never change a published step: add a new one. */
const migrations = [
  `
  CREATE TABLE cells (id TEXT PRIMARY KEY, tenant TEXT NOT NULL, name TEXT, record TEXT NOT NULL);
  CREATE UNIQUE INDEX cells_by_name ON cells (tenant, name) WHERE name IS NOT NULL;
  CREATE INDEX cells_by_tenant ON cells (tenant, id);
  CREATE TABLE keys (id TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, record TEXT NOT NULL);
  CREATE TABLE requests (
    tenant TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, cell TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (tenant, key)
  );
  `,
  'CREATE TABLE secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL);',
  `
  CREATE TABLE usage (
    tenant TEXT NOT NULL, day TEXT NOT NULL, cell_ms INTEGER NOT NULL, cells INTEGER NOT NULL,
    PRIMARY KEY (tenant, day)
  );
  `,
  `
  CREATE TABLE actions (cell TEXT NOT NULL, key TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (cell, key)) WITHOUT ROWID;
  CREATE INDEX actions_by_time ON actions (at);
  `,
  `
  CREATE TABLE ended (cell TEXT PRIMARY KEY, tenant TEXT NOT NULL, made_at INTEGER NOT NULL, at INTEGER NOT NULL);
  CREATE INDEX ended_by_tenant ON ended (tenant, made_at, cell);
  CREATE INDEX ended_by_time ON ended (at);
  `,
  'CREATE TABLE checkpoints (id TEXT PRIMARY KEY, tenant TEXT NOT NULL, record TEXT NOT NULL);',
];

const removeActions =
  'DELETE FROM actions WHERE (cell, key) IN (SELECT cell, key FROM actions WHERE at < ? ORDER BY at LIMIT ?)';

const removeEnded =
  'DELETE FROM ended WHERE cell IN (SELECT cell FROM ended WHERE at < ? ORDER BY at LIMIT ?)';

const kind = { what: 'store of the service', setting: 'service.store', migrations };

/** Opens it for this process alone: two services would each end what the other has just made. */
export async function openSqliteServiceStore(file: string): Promise<SqliteServiceStore> {
  const directory = `${file}.lease`;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lease = await tryLease(directory);
  if (!('release' in lease)) {
    lease.leave();
    throw new WorkcellError(
      'store-unavailable',
      `Process ${lease.heldBy} serves from ${file} already. Use that service, or give this one a file of its own with service.store.`,
      { details: { store: `sqlite:${file}`, heldBy: lease.heldBy } },
    );
  }
  try {
    // An acknowledged write survives a loss of power, too. Keys of actions survive the process: as durable as events.
    const database = await openDatabase(file, 'machine', kind);
    return new SqliteServiceStore(file, database, await openDatabase(file, 'process', kind), lease);
  } catch (error) {
    lease.release();
    throw error;
  }
}

export class SqliteServiceStore implements ServiceStore {
  readonly #file: string;
  readonly #database: DatabaseSync;
  readonly #actions: DatabaseSync;
  readonly #lease: Lease;
  readonly #statements = new Map<string, StatementSync>();
  #insertAction: StatementSync | undefined;
  #actionsBegun = 0;

  /** `actions`: another connection to the same file, which does not wait for the disk. */
  constructor(file: string, database: DatabaseSync, actions: DatabaseSync, lease: Lease) {
    this.#file = file;
    this.#database = database;
    this.#actions = actions;
    this.#lease = lease;
  }

  putCell(
    record: CellRecord,
    request?: { readonly key: string; readonly fingerprint: string },
    usage: readonly UsagePiece[] = [],
  ): void {
    const { id, tenant, name = null } = record;
    this.#inOne((prepare) => {
      prepare('INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?)').run(
        id,
        tenant,
        name,
        JSON.stringify(record),
      );
      addUsage(prepare, tenant, usage);
      if (request === undefined) return;
      const now = Date.now();
      prepare('DELETE FROM requests WHERE at < ?').run(now - requestsKeptMs);
      prepare('INSERT OR REPLACE INTO requests VALUES (?, ?, ?, ?, ?)').run(
        tenant,
        request.key,
        request.fingerprint,
        id,
        now,
      );
    });
  }

  removeCell({ id, tenant }: Pick<CellRecord, 'id' | 'tenant'>, usage: readonly UsagePiece[] = []): void {
    this.#inOne((prepare) => {
      prepare('DELETE FROM cells WHERE id = ?').run(id);
      addUsage(prepare, tenant, usage);
    });
  }

  endCell({ id, tenant, createdAt }: CellRecord, usage: readonly UsagePiece[]): void {
    const now = Date.now();
    this.#inOne((prepare) => {
      prepare('DELETE FROM cells WHERE id = ?').run(id);
      prepare('INSERT OR REPLACE INTO ended VALUES (?, ?, ?, ?)').run(id, tenant, createdAt, now);
      prepare(removeEnded).run(now - endedKeptMs, endedRemoved);
      addUsage(prepare, tenant, usage);
    });
  }

  endedOf(id: string): string | undefined {
    const row = this.#do((prepare) => prepare('SELECT tenant FROM ended WHERE cell = ?').get(id));
    return (row as { tenant: string } | undefined)?.tenant;
  }

  ended(tenant: string, { limit, before }: Page): MadeAt[] {
    const { at, id } = before ?? { at: Number.MAX_SAFE_INTEGER, id: '' };
    return this.#do((prepare) =>
      prepare(
        `SELECT cell AS id, made_at AS at FROM ended
        WHERE tenant = ? AND (made_at, cell) < (?, ?) ORDER BY made_at DESC, cell DESC LIMIT ?`,
      ).all(tenant, at, id, limit),
    ) as unknown as MadeAt[];
  }

  usage(from: string, to: string): UsageRow[] {
    return this.#do((prepare) =>
      prepare(
        'SELECT tenant, day, cell_ms AS cellMs, cells FROM usage WHERE day BETWEEN ? AND ? ORDER BY tenant, day',
      ).all(from, to),
    ) as unknown as UsageRow[];
  }

  cells(): CellRecord[] {
    return this.#records('SELECT record FROM cells ORDER BY id');
  }

  checkpoints(): CheckpointRecord[] {
    const rows = this.#do((prepare) => prepare('SELECT record FROM checkpoints ORDER BY id').all());
    return (rows as { record: string }[]).map(({ record }) => JSON.parse(record) as CheckpointRecord);
  }

  putCheckpoint(record: CheckpointRecord): void {
    const { id, tenant } = record;
    this.#do((prepare) =>
      prepare('INSERT INTO checkpoints VALUES (?, ?, ?)').run(id, tenant, JSON.stringify(record)),
    );
  }

  removeCheckpoint(id: string): void {
    this.#do((prepare) => prepare('DELETE FROM checkpoints WHERE id = ?').run(id));
  }

  putKey(record: KeyRecord, hash: string): void {
    this.#do((prepare) =>
      prepare('INSERT INTO keys VALUES (?, ?, ?)').run(record.id, hash, JSON.stringify(record)),
    );
  }

  removeKey(id: string): void {
    this.#do((prepare) => prepare('DELETE FROM keys WHERE id = ?').run(id));
  }

  keys(): { readonly record: KeyRecord; readonly hash: string }[] {
    const rows = this.#do((prepare) => prepare('SELECT hash, record FROM keys').all());
    return (rows as { hash: string; record: string }[]).map(({ hash, record }) => ({
      hash,
      record: JSON.parse(record) as KeyRecord,
    }));
  }

  request(tenant: string, key: string): AnsweredRequest | undefined {
    return this.#do((prepare) =>
      prepare('SELECT fingerprint, cell FROM requests WHERE tenant = ? AND key = ?').get(tenant, key),
    ) as AnsweredRequest | undefined;
  }

  beginAction(cell: string, key: string): boolean {
    const now = Date.now();
    try {
      if (this.#actionsBegun++ % actionsBetween === 0)
        this.#actions.prepare(removeActions).run(now - actionsKeptMs, actionsRemoved);
      this.#insertAction ??= this.#actions.prepare('INSERT OR IGNORE INTO actions VALUES (?, ?, ?)');
      return Number(this.#insertAction.run(cell, key, now).changes) > 0;
    } catch (error) {
      throw unavailable(this.#file, error, kind);
    }
  }

  secret(): string {
    const row = this.#do((prepare) => {
      prepare("INSERT OR IGNORE INTO secrets VALUES ('signing', ?)").run(randomBytes(32).toString('hex'));
      return prepare("SELECT value FROM secrets WHERE name = 'signing'").get();
    });
    return (row as { value: string }).value;
  }

  answers(): boolean {
    try {
      this.#do((prepare) => prepare('SELECT count(*) FROM secrets').get());
      return true;
    } catch {
      return false;
    }
  }

  /** The lock on its file is ours until we close it. */
  checkHeld(): void {}

  close(): void {
    if (!this.#database.isOpen) return;
    this.#statements.clear();
    this.#insertAction = undefined;
    this.#actions.close();
    // The driver releases the file when the garbage collector takes its statements; this puts everything into the
    // file now.
    this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    this.#database.close();
    this.#lease.release();
  }

  #records(sql: string): CellRecord[] {
    const rows = this.#do((prepare) => prepare(sql).all()) as { record: string }[];
    return rows.map(({ record }) => JSON.parse(record) as CellRecord);
  }

  #inOne(work: (prepare: Prepare) => void): void {
    this.#do((prepare) => {
      prepare('BEGIN IMMEDIATE').run();
      try {
        work(prepare);
        prepare('COMMIT').run();
      } catch (error) {
        if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
        throw error;
      }
    });
  }

  #do<Result>(work: (prepare: Prepare) => Result): Result {
    try {
      return work((sql) => {
        const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
        this.#statements.set(sql, statement);
        return statement;
      });
    } catch (error) {
      throw unavailable(this.#file, error, kind);
    }
  }
}

function addUsage(prepare: Prepare, tenant: string, usage: readonly UsagePiece[]): void {
  const add = `INSERT INTO usage VALUES (?, ?, ?, ?)
    ON CONFLICT (tenant, day) DO UPDATE SET cell_ms = cell_ms + excluded.cell_ms, cells = cells + excluded.cells`;
  for (const { day, cellMs, cells } of usage) prepare(add).run(tenant, day, cellMs, cells);
}
