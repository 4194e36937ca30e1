import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectServiceStore, PostgresServiceStore } from '../../src/service/postgres-service-store.js';
import { findPostgres, type PostgresServer, startPostgres } from '../runtime/events/postgres-server.js';
import { describeServiceStore, recordOf } from './store-contract.js';

const programs = findPostgres();
if (programs === undefined)
  console.warn(
    'PostgreSQL is not installed, so its store is not tested; ./scripts/setup --tests installs it.',
  );

describe.skipIf(programs === undefined)('a real server', () => {
  let server: PostgresServer;
  let pool: Pool;
  beforeAll(async () => {
    server = await startPostgres(programs ?? '');
    pool = await connectServiceStore(server.url);
  });
  afterAll(async () => {
    await pool.end();
    await server.stop();
  });

  let lost = 0;
  const open = async () => {
    const { rows } = await pool.query<{ epoch: string }>(
      'UPDATE workcell_service.holder SET epoch = epoch + 1 RETURNING epoch',
    );
    const epoch = Number(rows[0]?.epoch);
    return new PostgresServiceStore({ url: server.url, pool, epoch, onLost: () => lost++ });
  };

  describeServiceStore('in PostgreSQL', open);

  test('whoever has lost the lease writes nothing, and reads on', async () => {
    const old = await open();
    await old.putCell(recordOf('of-old'));
    const current = await open();
    const record = recordOf('late', { tenant: 'late' });
    const key = { id: 'late', tenant: 'late', role: 'user', createdAt: 1 } as const;
    const usage = [{ day: '2040-01-01', cellMs: 1, cells: 1 }];
    const writes = [
      () => old.putCell(record, { key: 'late', fingerprint: 'f' }, usage),
      () => old.putCell(recordOf('of-old', { state: 'lost' })),
      () => old.removeCell(recordOf('of-old'), usage),
      () => old.endCell(recordOf('of-old'), usage),
      () => old.putKey(key, 'late'),
      () => old.beginAction('late', 'late'),
      () => old.checkHeld(),
    ];
    lost = 0;
    for (const write of writes) await expect(write()).rejects.toMatchObject({ code: 'store-unavailable' });
    expect(lost).toBe(writes.length);
    await current.checkHeld();
    expect(await old.cells()).toContainEqual(recordOf('of-old'));
    expect((await current.cells()).map(({ id }) => id)).not.toContain('late');
    expect(await current.request('late', 'late')).toBeUndefined();
    expect(await current.usage('2040-01-01', '2040-01-01')).toEqual([]);
    expect(await current.endedOf('of-old')).toBeUndefined();
    expect((await current.keys()).map(({ record: { id } }) => id)).not.toContain('late');
    expect(await current.beginAction('late', 'late')).toBe(true);
  });

  test('the next holder waits for what is being written', async () => {
    const old = await open();
    const client = await pool.connect();
    // What a write does, halted in the middle.
    await client.query('BEGIN');
    await client.query('SELECT FROM workcell_service.holder FOR SHARE');
    let isNext = false;
    const next = open().then((store) => {
      isNext = true;
      return store;
    });
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    await expect.poll(async () => (await pool.query(waiting)).rowCount).toBe(1);
    expect(isNext).toBe(false);
    await client.query('COMMIT');
    client.release();
    await next;
    await expect(old.putCell(recordOf('after'))).rejects.toMatchObject({ code: 'store-unavailable' });
  });

  test('an action that cannot begin has not used up its key', async () => {
    const store = await open();
    await pool.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$;
      CREATE TRIGGER refuse BEFORE DELETE ON workcell_service.actions FOR EACH STATEMENT EXECUTE FUNCTION refuse()`);
    await expect(store.beginAction('cell', 'key')).rejects.toMatchObject({ code: 'store-unavailable' });
    await pool.query('DROP TRIGGER refuse ON workcell_service.actions; DROP FUNCTION refuse');
    expect(await store.beginAction('cell', 'key')).toBe(true);
    expect(await store.beginAction('cell', 'key')).toBe(false);
  });

  test('its failures show no password', async () => {
    const wrong = server.url.replace('/postgres?', '/absent?');
    const failure = await connectServiceStore(wrong).catch((error: unknown) => error as Error);
    expect(failure).toMatchObject({ code: 'store-unavailable' });
    expect(String(failure)).toContain('store of the service postgres://tester@localhost/absent');
    expect(JSON.stringify([failure, String(failure)])).not.toContain('not-needed');
  });
});
