/** A connection to the database with a life of its own: it holds a lock, or hears of changes. */
import type { Client } from 'pg';
import { keepAliveMs, loadDriver } from '../../runtime/events/postgres/postgres-connect.js';
import { serviceKind } from '../postgres-service-store.js';

const connectMs = 5000;

/** How soon to look again whether the database is back. */
export const againMs = 500;

/** So that the database notices soon when this machine is gone. */
const keepalive =
  'SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3';

/** `onEnd`: it is over, whoever ended it. */
export async function openSession(url: string, onEnd: () => void): Promise<Client> {
  const { Client } = await loadDriver(serviceKind);
  const client = new Client({
    connectionString: url,
    application_name: 'workcell service',
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(keepalive);
    // Of a process that was killed while it waited; servers before version 14 notice when its turn comes.
    await client.query("SET client_connection_check_interval = '1s'").catch(() => {});
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
  client.once('end', onEnd);
  return client;
}

export async function close(client: Client | undefined): Promise<void> {
  await client?.end().catch(() => {});
}
