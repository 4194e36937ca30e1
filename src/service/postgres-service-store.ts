/**
 * The store of a service in a PostgreSQL database, for several processes of which one writes. Each write is one statement
 * that does nothing unless the writer still has the lease: see `replicas/leadership.ts`.
 */
import { randomBytes } from 'node:crypto';
import type { Pool, QueryResultRow } from 'pg';
import { WorkcellError } from '../protocol/index.js';
import { connect, type PostgresKind, toUnavailable } from '../runtime/events/postgres/postgres-connect.js';
import { shownUrl } from '../runtime/events/store-place.js';
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

/** The schema, as the steps that lead to it. Never change a published step: add a new one. */
const migrations = [
  `
  CREATE TABLE workcell_service.cells (
    id text COLLATE "C" PRIMARY KEY, tenant text NOT NULL, name text, record text NOT NULL
  );
  CREATE UNIQUE INDEX cells_by_name ON workcell_service.cells (tenant, name) WHERE name IS NOT NULL;
  CREATE TABLE workcell_service.keys (id text PRIMARY KEY, hash text NOT NULL UNIQUE, record text NOT NULL);
  CREATE TABLE workcell_service.requests (
    tenant text NOT NULL, key text NOT NULL, fingerprint text NOT NULL, cell text NOT NULL, at bigint NOT NULL,
    PRIMARY KEY (tenant, key)
  );
  CREATE INDEX requests_by_time ON workcell_service.requests (at);
  CREATE TABLE workcell_service.secrets (name text PRIMARY KEY, value text NOT NULL);
  CREATE TABLE workcell_service.usage (
    tenant text COLLATE "C" NOT NULL, day text COLLATE "C" NOT NULL, cell_ms bigint NOT NULL, cells bigint NOT NULL,
    PRIMARY KEY (tenant, day)
  );
  CREATE TABLE workcell_service.actions (
    cell text NOT NULL, key text NOT NULL, at bigint NOT NULL, PRIMARY KEY (cell, key)
  );
  CREATE INDEX actions_by_time ON workcell_service.actions (at);
  CREATE TABLE workcell_service.ended (
    cell text COLLATE "C" PRIMARY KEY, tenant text NOT NULL, made_at bigint NOT NULL, at bigint NOT NULL
  );
  CREATE INDEX ended_by_tenant ON workcell_service.ended (tenant, made_at, cell);
  CREATE INDEX ended_by_time ON workcell_service.ended (at);
  CREATE TABLE workcell_service.holder (
    one boolean PRIMARY KEY DEFAULT true CHECK (one), epoch bigint NOT NULL, address text
  );
  INSERT INTO workcell_service.holder (epoch) VALUES (0);
  `,
  'CREATE TABLE workcell_service.checkpoints (id text COLLATE "C" PRIMARY KEY, tenant text NOT NULL, record text NOT NULL);',
];

export const serviceKind: PostgresKind = {
  what: 'store of the service',
  setting: 'service.store',
  schema: 'workcell_service',
  migrations,
  migrationLock: 7_266_735_113,
  connections: 8,
};

/** A row while this epoch is the current one. The next holder waits for what is being written. */
const held = 'held AS (SELECT FROM workcell_service.holder WHERE epoch = $1 FOR SHARE)';
const ifHeld = 'EXISTS (SELECT FROM held)';

/** `$2`: the tenant. */
const addUsage = (from: number) => `used AS (
  INSERT INTO workcell_service.usage AS before
    SELECT $2, piece.* FROM held, unnest($${from}::text[], $${from + 1}::bigint[], $${from + 2}::bigint[]) AS piece
    ON CONFLICT (tenant, day) DO UPDATE
      SET cell_ms = before.cell_ms + excluded.cell_ms, cells = before.cells + excluded.cells
)`;

export async function connectServiceStore(url: string): Promise<Pool> {
  return connect(url, serviceKind);
}

export class PostgresServiceStore implements ServiceStore {
  readonly #url: string;
  readonly #pool: Pool;
  readonly #epoch: number;
  readonly #onLost: () => void;
  #actionsBegun = 0;

  /** `epoch`: which lease this writes under; `onLost` is called when a write finds that it is over. */
  constructor(options: {
    readonly url: string;
    readonly pool: Pool;
    readonly epoch: number;
    readonly onLost: () => void;
  }) {
    this.#url = options.url;
    this.#pool = options.pool;
    this.#epoch = options.epoch;
    this.#onLost = options.onLost;
  }

  async putCell(
    record: CellRecord,
    request?: { readonly key: string; readonly fingerprint: string },
    usage: readonly UsagePiece[] = [],
  ): Promise<void> {
    const { id, tenant, name = null } = record;
    const now = Date.now();
    const put = `put AS (
      INSERT INTO workcell_service.cells SELECT $6, $2, $7, $8 FROM held
        ON CONFLICT (id) DO UPDATE SET tenant = excluded.tenant, name = excluded.name, record = excluded.record
    )`;
    const answered = `old AS (
      DELETE FROM workcell_service.requests WHERE at < $12::bigint AND NOT (tenant = $2 AND key = $9) AND ${ifHeld}
    ), answered AS (
      INSERT INTO workcell_service.requests SELECT $2, $9, $10, $6, $11::bigint FROM held
        ON CONFLICT (tenant, key) DO UPDATE
          SET fingerprint = excluded.fingerprint, cell = excluded.cell, at = excluded.at
    )`;
    const values = [tenant, ...columnsOf(usage), id, name, JSON.stringify(record)];
    if (request === undefined) {
      await this.#write([addUsage(3), put], values);
      return;
    }
    const more = [request.key, request.fingerprint, now, now - requestsKeptMs];
    await this.#write([addUsage(3), put, answered], [...values, ...more]);
  }

  async removeCell(
    { id, tenant }: Pick<CellRecord, 'id' | 'tenant'>,
    usage: readonly UsagePiece[] = [],
  ): Promise<void> {
    await this.#write([addUsage(3), removed], [tenant, ...columnsOf(usage), id]);
  }

  async endCell({ id, tenant, createdAt }: CellRecord, usage: readonly UsagePiece[]): Promise<void> {
    const now = Date.now();
    const ended = `ended AS (
      INSERT INTO workcell_service.ended SELECT $6, $2, $7::bigint, $8::bigint FROM held ON CONFLICT (cell) DO NOTHING
    ), forgotten AS (
      DELETE FROM workcell_service.ended WHERE ${ifHeld} AND cell IN (
        SELECT cell FROM workcell_service.ended WHERE at < $9 AND cell <> $6 ORDER BY at LIMIT $10
      )
    )`;
    const values = [tenant, ...columnsOf(usage), id, createdAt, now, now - endedKeptMs, endedRemoved];
    await this.#write([addUsage(3), removed, ended], values);
  }

  async endedOf(id: string): Promise<string | undefined> {
    const [row] = await this.#read<{ tenant: string }>(
      'SELECT tenant FROM workcell_service.ended WHERE cell = $1',
      [id],
    );
    return row?.tenant;
  }

  async ended(tenant: string, { limit, before }: Page): Promise<MadeAt[]> {
    const { at, id } = before ?? { at: Number.MAX_SAFE_INTEGER, id: '' };
    const rows = await this.#read<{ id: string; at: string }>(
      `SELECT cell AS id, made_at AS at FROM workcell_service.ended
      WHERE tenant = $1 AND (made_at, cell) < ($2, $3) ORDER BY made_at DESC, cell DESC LIMIT $4`,
      [tenant, at, id, limit],
    );
    return rows.map((row) => ({ id: row.id, at: Number(row.at) }));
  }

  async usage(from: string, to: string): Promise<UsageRow[]> {
    const rows = await this.#read<Record<'tenant' | 'day' | 'ms' | 'cells', string>>(
      `SELECT tenant, day, cell_ms AS ms, cells FROM workcell_service.usage
      WHERE day BETWEEN $1 AND $2 ORDER BY tenant, day`,
      [from, to],
    );
    return rows.map(({ tenant, day, ms, cells }) => ({
      tenant,
      day,
      cellMs: Number(ms),
      cells: Number(cells),
    }));
  }

  async cells(): Promise<CellRecord[]> {
    const rows = await this.#read<{ record: string }>(
      'SELECT record FROM workcell_service.cells ORDER BY id',
      [],
    );
    return rows.map(({ record }) => JSON.parse(record) as CellRecord);
  }

  async checkpoints(): Promise<CheckpointRecord[]> {
    const rows = await this.#read<{ record: string }>(
      'SELECT record FROM workcell_service.checkpoints ORDER BY id',
      [],
    );
    return rows.map(({ record }) => JSON.parse(record) as CheckpointRecord);
  }

  async putCheckpoint(record: CheckpointRecord): Promise<void> {
    await this.#write(
      ['put AS (INSERT INTO workcell_service.checkpoints SELECT $2, $3, $4 FROM held)'],
      [record.id, record.tenant, JSON.stringify(record)],
    );
  }

  async removeCheckpoint(id: string): Promise<void> {
    await this.#write(
      [`removed AS (DELETE FROM workcell_service.checkpoints WHERE id = $2 AND ${ifHeld})`],
      [id],
    );
  }

  async putKey(record: KeyRecord, hash: string): Promise<void> {
    await this.#write(
      ['put AS (INSERT INTO workcell_service.keys SELECT $2, $3, $4 FROM held)'],
      [record.id, hash, JSON.stringify(record)],
    );
  }

  async removeKey(id: string): Promise<void> {
    await this.#write([`removed AS (DELETE FROM workcell_service.keys WHERE id = $2 AND ${ifHeld})`], [id]);
  }

  async keys(): Promise<{ readonly record: KeyRecord; readonly hash: string }[]> {
    const rows = await this.#read<{ hash: string; record: string }>(
      'SELECT hash, record FROM workcell_service.keys',
      [],
    );
    return rows.map(({ hash, record }) => ({ hash, record: JSON.parse(record) as KeyRecord }));
  }

  async request(tenant: string, key: string): Promise<AnsweredRequest | undefined> {
    const [row] = await this.#read<{ fingerprint: string; cell: string }>(
      'SELECT fingerprint, cell FROM workcell_service.requests WHERE tenant = $1 AND key = $2',
      [tenant, key],
    );
    return row;
  }

  async beginAction(cell: string, key: string): Promise<boolean> {
    const now = Date.now();
    // First, so that an action whose key is kept has begun.
    if (this.#actionsBegun++ % actionsBetween === 0) {
      const old = `old AS (DELETE FROM workcell_service.actions WHERE ${ifHeld} AND (cell, key) IN (
        SELECT cell, key FROM workcell_service.actions WHERE at < $2 ORDER BY at LIMIT $3))`;
      await this.#write([old], [now - actionsKeptMs, actionsRemoved]);
    }
    const begin =
      'added AS (INSERT INTO workcell_service.actions SELECT $2, $3, $4::bigint FROM held ON CONFLICT DO NOTHING RETURNING 1)';
    return (await this.#write([begin], [cell, key, now], 'added')) > 0;
  }

  async secret(): Promise<string> {
    return secretOf(this.#url, this.#pool);
  }

  async answers(): Promise<boolean> {
    try {
      await this.#pool.query('SELECT count(*) FROM workcell_service.secrets');
      return true;
    } catch {
      return false;
    }
  }

  async checkHeld(): Promise<void> {
    await this.#write([], []);
  }

  /** The connections belong to whoever opened them. */
  close(): void {}

  /** Does all of it, or nothing. Returns how many rows `count` has. */
  async #write(parts: readonly string[], values: readonly unknown[], count = 'held'): Promise<number> {
    const text = `WITH ${[held, ...parts].join(', ')}
      SELECT (SELECT count(*) FROM held)::int AS held, (SELECT count(*) FROM ${count})::int AS count`;
    const [row] = await this.#read<{ held: number; count: number }>(text, [this.#epoch, ...values]);
    if (row !== undefined && row.held > 0) return row.count;
    this.#onLost();
    throw new WorkcellError(
      'store-unavailable',
      'Another replica of the service has taken over, so this one writes no more. Send the request again.',
      { details: { store: shownUrl(this.#url) } },
    );
  }

  async #read<Row extends QueryResultRow>(text: string, values: readonly unknown[]): Promise<Row[]> {
    try {
      return (await this.#pool.query<Row>(text, [...values])).rows;
    } catch (error) {
      throw toUnavailable(this.#url, error, serviceKind);
    }
  }
}

/** What the service signs with, and its replicas know each other by. */
export async function secretOf(url: string, pool: Pool): Promise<string> {
  const value = randomBytes(32).toString('hex');
  try {
    await pool.query("INSERT INTO workcell_service.secrets VALUES ('signing', $1) ON CONFLICT DO NOTHING", [
      value,
    ]);
    const { rows } = await pool.query<{ value: string }>(
      "SELECT value FROM workcell_service.secrets WHERE name = 'signing'",
    );
    return (rows[0] as { value: string }).value;
  } catch (error) {
    throw toUnavailable(url, error, serviceKind);
  }
}

const removed = `removed AS (DELETE FROM workcell_service.cells WHERE id = $6 AND ${ifHeld})`;

function columnsOf(usage: readonly UsagePiece[]): unknown[] {
  return [usage.map(({ day }) => day), usage.map(({ cellMs }) => cellMs), usage.map(({ cells }) => cells)];
}
