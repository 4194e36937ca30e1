import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEventStore } from '../../../src/runtime/events/open.js';
import { migrations } from '../../../src/runtime/events/postgres/postgres-schema.js';
import { findPostgres, type PostgresServer, startPostgres } from './postgres-server.js';
import { describeStore } from './store-contract.js';

const programs = findPostgres();
if (programs === undefined)
  console.warn(
    'PostgreSQL is not installed, so its store is not tested; ./scripts/setup --tests installs it.',
  );

describe.skipIf(programs === undefined)('a real server', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(programs ?? '');
  });
  afterAll(() => server.stop());

  describeStore('postgres', { open: () => openEventStore(server.url), lasting: true, sized: false });

  test('an event that is being written during an upgrade is in the list of runtimes', async () => {
    const admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    await admin.query('CREATE DATABASE older');
    const url = server.url.replace('/postgres?', '/older?');
    const writer = new pg.Client({ connectionString: url });
    await writer.connect();
    await writer.query(
      'CREATE SCHEMA workcell; CREATE TABLE workcell.schema_version (version integer NOT NULL)',
    );
    for (const step of migrations.slice(0, 2)) await writer.query(step);
    await writer.query('INSERT INTO workcell.schema_version VALUES (2)');
    await writer.query('BEGIN');
    await writer.query("INSERT INTO workcell.events VALUES ('r', 1, 1, 'error', 'agent', NULL, '{}', NULL)");
    const opening = openEventStore(url);
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = 'older' AND wait_event_type = 'Lock'";
    await expect.poll(async () => (await admin.query(waiting)).rowCount, { timeout: 30_000 }).toBe(1);
    await writer.query('COMMIT');
    const store = await opening;
    expect(await store.page({ limit: 10 })).toMatchObject([{ runtimeId: 'r', beganAt: 1, lastId: 1 }]);
    await store.close();
    await writer.end();
    await admin.end();
  });

  test('its name and its failures show no password', async () => {
    const store = await openEventStore(server.url);
    expect(store.name).toBe('postgres://tester@localhost/postgres');
    await store.close();
    const wrong = server.url.replace('/postgres?', '/absent?');
    const failure = await openEventStore(wrong).catch(
      (error: unknown) => error as Error & { cause: unknown },
    );
    expect(failure).toMatchObject({ code: 'store-unavailable' });
    expect(JSON.stringify([failure, String(failure)])).not.toContain('not-needed');
    expect((failure as { cause?: unknown }).cause).toBeUndefined();
  });
});
