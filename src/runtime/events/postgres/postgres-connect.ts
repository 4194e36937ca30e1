/** A pool of connections to one database, its schema brought to the newest version. */
import type { Pool, PoolClient } from 'pg';
import { requirePackages } from '../../../base/optional-package.js';
import { WorkcellError } from '../../../protocol/index.js';
import { shownUrl } from '../store-place.js';
import { migrations } from './postgres-schema.js';

/** Any number that others are unlikely to lock. */
const migrationLock = 7_266_735_111;

const connectMs = 10_000;

export async function connect(url: string): Promise<Pool> {
  const { Pool } = await loadDriver();
  const pool = new Pool({
    connectionString: url,
    // One connection writes, another reads; a server with many runtimes writes in batches.
    max: 2,
    connectionTimeoutMillis: connectMs,
    application_name: 'workcell',
    allowExitOnIdle: true,
  });
  // The next query replaces a connection that breaks while it is idle.
  pool.on('error', () => {});
  try {
    await inTransaction(pool, (client) => migrate(client, url));
    return pool;
  } catch (error) {
    await pool.end();
    throw toUnavailable(url, error);
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

export function toUnavailable(url: string, error: unknown): WorkcellError {
  if (WorkcellError.isInstance(error)) return error;
  const reason = error instanceof Error ? error.message || error.name : String(error);
  const shown = shownUrl(url);
  return new WorkcellError(
    'store-unavailable',
    `Workcell cannot use the event store ${shown}: ${reason}. Check that the server runs and takes this user.`,
    // Do not pass on the driver's own error: it may carry the address with its password.
    { details: { store: shown } },
  );
}

async function migrate(client: PoolClient, url: string): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1)', [migrationLock]);
  await client.query('CREATE SCHEMA IF NOT EXISTS workcell');
  await client.query('CREATE TABLE IF NOT EXISTS workcell.schema_version (version integer NOT NULL)');
  const { rows } = await client.query<{ version: number }>('SELECT version FROM workcell.schema_version');
  const version = rows[0]?.version ?? 0;
  if (version > migrations.length)
    throw new WorkcellError(
      'store-unavailable',
      `The event store ${shownUrl(url)} comes from a newer Workcell (schema ${version}, this one knows ${migrations.length}). Update Workcell, or choose another database with events.store.`,
      { details: { store: shownUrl(url), version } },
    );
  if (version === migrations.length) return;
  for (const step of migrations.slice(version)) await client.query(step);
  await client.query('DELETE FROM workcell.schema_version');
  await client.query('INSERT INTO workcell.schema_version VALUES ($1)', [migrations.length]);
}

async function loadDriver(): Promise<typeof import('pg')> {
  requirePackages('Keeping events in PostgreSQL', ['pg']);
  // A CommonJS module: its members are under `default`.
  return (await import('pg')).default as unknown as typeof import('pg');
}
