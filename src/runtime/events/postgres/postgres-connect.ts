/** A pool of connections to one database, its schema brought to the newest version. */
import type { Pool, PoolClient } from 'pg';
import { requirePackages } from '../../../base/optional-package.js';
import { WorkcellError } from '../../../protocol/index.js';
import { shownUrl } from '../store-place.js';
import { migrations } from './postgres-schema.js';

/** What a schema of the database holds. */
export interface PostgresKind {
  /** As messages call it, such as `event store`. */
  readonly what: string;
  /** The setting that names the database. */
  readonly setting: string;
  readonly schema: string;
  /** The steps that lead to it; `schema_version` counts those done. */
  readonly migrations: readonly string[];
  /** Any number that others are unlikely to lock. */
  readonly migrationLock: number;
  readonly connections: number;
}

const events: PostgresKind = {
  what: 'event store',
  setting: 'events.store',
  schema: 'workcell',
  migrations,
  migrationLock: 7_266_735_111,
  // One connection writes, another reads; a server with many runtimes writes in batches.
  connections: 2,
};

const connectMs = 10_000;

/** How soon to ask a silent connection whether the machine behind it is still there. */
export const keepAliveMs = 5000;

/** What takes longer has lost its server; nothing here needs as long. */
const queryMs = 60_000;

export async function connect(url: string, kind: PostgresKind = events): Promise<Pool> {
  const { Pool } = await loadDriver(kind);
  const pool = new Pool({
    connectionString: url,
    max: kind.connections,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    query_timeout: queryMs,
    application_name: 'workcell',
    allowExitOnIdle: true,
  });
  // The next query replaces a connection that breaks while it is idle.
  pool.on('error', () => {});
  try {
    await inTransaction(pool, (client) => migrate(client, url, kind));
    return pool;
  } catch (error) {
    await pool.end();
    throw toUnavailable(url, error, kind);
  }
}

export async function inTransaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let broken: unknown;
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((failure: unknown) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.release(broken !== undefined);
  }
}

export function toUnavailable(
  url: string,
  error: unknown,
  { what }: Pick<PostgresKind, 'what'> = events,
): WorkcellError {
  if (WorkcellError.isInstance(error)) return error;
  const reason = error instanceof Error ? error.message || error.name : String(error);
  const shown = shownUrl(url);
  return new WorkcellError(
    'store-unavailable',
    `Workcell cannot use the ${what} ${shown}: ${reason}. Check that the server runs and takes this user.`,
    // Do not pass on the driver's own error: it may carry the address with its password.
    { details: { store: shown } },
  );
}

async function migrate(
  client: PoolClient,
  url: string,
  { what, setting, schema, migrations: steps, migrationLock }: PostgresKind,
): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1)', [migrationLock]);
  await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
  await client.query(`CREATE TABLE IF NOT EXISTS ${schema}.schema_version (version integer NOT NULL)`);
  const { rows } = await client.query<{ version: number }>(`SELECT version FROM ${schema}.schema_version`);
  const version = rows[0]?.version ?? 0;
  if (version > steps.length)
    throw new WorkcellError(
      'store-unavailable',
      `The ${what} ${shownUrl(url)} comes from a newer Workcell (schema ${version}, this one knows ${steps.length}). Update Workcell, or choose another database with ${setting}.`,
      { details: { store: shownUrl(url), version } },
    );
  if (version === steps.length) return;
  for (const step of steps.slice(version)) await client.query(step);
  await client.query(`DELETE FROM ${schema}.schema_version`);
  await client.query(`INSERT INTO ${schema}.schema_version VALUES ($1)`, [steps.length]);
}

/** `what`: what is kept there. */
export async function loadDriver({ what }: Pick<PostgresKind, 'what'>): Promise<typeof import('pg')> {
  requirePackages(`Keeping the ${what} in PostgreSQL`, ['pg']);
  // A CommonJS module: its members are under `default`.
  return (await import('pg')).default as unknown as typeof import('pg');
}
