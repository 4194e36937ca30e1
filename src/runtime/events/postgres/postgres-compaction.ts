/** Removes old events, oldest first, a step in each transaction. */
import type { PoolClient } from 'pg';
import type { Retention, StoredRuntime } from '../event-store.js';
import { placesOf, type Row } from '../rows.js';

const stepEvents = 1000;

/**
 * True while there is more to do. Only age counts, because the size of a database is its administrator's business.
 */
export async function compactStep(
  client: PoolClient,
  { olderThan = 0, restMs = 0 }: Retention,
  list: () => Promise<StoredRuntime[]>,
): Promise<boolean> {
  if (Date.now() - (await lastAt(client)) < restMs) return false;
  const oldest = (await list()).find(({ firstAt }) => firstAt < olderThan);
  if (oldest === undefined) {
    await client.query('DELETE FROM workcell.compactions');
    await client.query('INSERT INTO workcell.compactions VALUES ($1)', [Date.now()]);
    return false;
  }
  // Appends wait here, so that none begins to use a text that we are about to remove.
  await client.query('LOCK TABLE workcell.text_uses IN SHARE ROW EXCLUSIVE MODE');
  await remove(client, oldest.runtimeId, olderThan);
  return true;
}

async function remove(client: PoolClient, runtime: string, olderThan: number): Promise<void> {
  const { rows } = await client.query<Row>(
    'SELECT * FROM workcell.events WHERE runtime = $1 ORDER BY id LIMIT $2',
    [runtime, stepEvents],
  );
  const young = rows.findIndex((row) => Number(row.at) >= olderThan);
  const gone = young === -1 ? rows : rows.slice(0, young);
  const last = gone.at(-1);
  if (last === undefined) return;
  await client.query('DELETE FROM workcell.events WHERE runtime = $1 AND id <= $2', [runtime, last.id]);
  await client.query(
    'DELETE FROM workcell.runtimes WHERE runtime = $1 AND NOT EXISTS (SELECT 1 FROM workcell.events WHERE runtime = $1)',
    [runtime],
  );
  const digests = [...new Set(gone.flatMap((row) => placesOf(row).map(([, digest]) => digest)))];
  if (digests.length === 0) return;
  await client.query('DELETE FROM workcell.text_uses WHERE digest = ANY($1) AND runtime = $2 AND id <= $3', [
    digests,
    runtime,
    last.id,
  ]);
  await client.query(
    `DELETE FROM workcell.texts WHERE digest = ANY($1)
     AND NOT EXISTS (SELECT 1 FROM workcell.text_uses AS uses WHERE uses.digest = texts.digest)`,
    [digests],
  );
}

async function lastAt(client: PoolClient): Promise<number> {
  const { rows } = await client.query<{ at: string | null }>(
    'SELECT max(at) AS at FROM workcell.compactions',
  );
  return Number(rows[0]?.at ?? 0);
}
