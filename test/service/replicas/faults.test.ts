/** What replicas do when one is halted, the database goes away, its disk is full, or a stranger comes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ServiceClient } from '../../../src/client/index.js';
import { LinkAgent, serveLink } from '../../../src/service/replicas/replica-link.js';
import { builtFile } from '../../built-file.js';
import { findPostgres, type PostgresServer, startPostgres } from '../../runtime/events/postgres-server.js';
import { operatorKey, type Replica, replicasIn } from './replica-process.js';

const programs = findPostgres();
const directory = mkdtempSync(join(tmpdir(), 'workcell-replicas-'));
// Where their cells are, apart from those of other tests.
process.env.XDG_RUNTIME_DIR = directory;

const clientOf = ({ url }: Replica) => new ServiceClient({ url, apiKey: operatorKey });
const run = async ({ url }: Replica, cell: string, command: string) => {
  const response = await fetch(`${url}/v1/cells/${cell}/v1/actions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ action: 'run', command }),
  });
  return (await response.json()) as { output?: string; error?: { code: string } };
};

describe.skipIf(programs === undefined)('on a real server', () => {
  let server: PostgresServer;
  let admin: pg.Client;
  let start: () => Promise<Replica>;
  const replicas: Replica[] = [];
  beforeAll(async () => {
    server = await startPostgres(programs ?? '');
    admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    start = async () => {
      const replica = await replicasIn(
        directory,
        server.url,
        builtFile('cli/main.js'),
        'replica_lease = 2',
      )();
      replicas.push(replica);
      return replica;
    };
  });
  afterEach(async () => {
    for (const replica of replicas.splice(0)) {
      replica.process.kill('SIGCONT');
      await replica.end('SIGTERM');
    }
  });
  afterAll(async () => {
    await admin.end();
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  test('a replica that is halted is replaced, and writes nothing when it goes on', async () => {
    const halted = await start();
    await halted.said('This replica serves');
    const other = await start();
    const cell = await clientOf(halted).create({ name: 'mine' });
    halted.process.kill('SIGSTOP');
    await other.said('This replica serves');
    expect(await clientOf(other).get('mine')).toMatchObject({ id: cell.id, state: 'running' });
    await clientOf(other).change('mine', { labels: { by: 'other' } });
    halted.process.kill('SIGCONT');
    await halted.said('serves no more');
    // It passes requests on now.
    await clientOf(halted).change('mine', { ttlMs: 60_000 });
    expect((await clientOf(other).get('mine')).labels).toEqual({ by: 'other' });
    await expect.poll(async () => (await run(other, cell.id, 'echo here')).output).toBe('here\n');
    await clientOf(halted).remove('mine');
    expect((await clientOf(other).list()).cells).toEqual([]);
  });

  test('while the database refuses, reads go on, writes fail by name, and nothing is lost', async () => {
    const replica = await start();
    await replica.said('This replica serves');
    const client = clientOf(replica);
    const { id } = await client.create({ labels: { kept: 'yes' } });
    const away = { code: 'store-unavailable' };
    // As good as gone: nobody gets in, and who was in is thrown out.
    await admin.query('CREATE DATABASE elsewhere');
    const outside = new pg.Client({ connectionString: server.url.replace('/postgres?', '/elsewhere?') });
    await outside.connect();
    await admin.end();
    const allow = (yes: boolean) =>
      outside.query(`UPDATE pg_database SET datallowconn = ${yes} WHERE datname = 'postgres'`);
    await allow(false);
    await outside.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'postgres'");
    await expect(client.create()).rejects.toMatchObject(away);
    await expect(client.change(id, { labels: {} })).rejects.toMatchObject(away);
    await expect(client.createKey({ tenant: 'a' })).rejects.toMatchObject(away);
    expect((await fetch(`${replica.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${replica.url}/healthz`)).status).toBe(200);
    expect((await client.list()).cells).toMatchObject([{ id, labels: { kept: 'yes' } }]);
    await allow(true);
    await outside.end();
    admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    await expect.poll(async () => (await fetch(`${replica.url}/readyz`)).status).toBe(200);
    await client.change(id, { labels: { again: 'yes' } });
    expect((await run(replica, id, 'echo still here')).output).toBe('still here\n');
    // It was the one all the time.
    expect(replica.log().match(/This replica serves/g)).toHaveLength(1);
    expect(replica.log()).not.toContain('not-needed');
    await client.remove(id);
  });

  test('a full disk of the database is an error by name, and what was there stays', async () => {
    const replica = await start();
    const client = clientOf(replica);
    const { id } = await client.create();
    await admin.query(`
      CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
      CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON workcell_service.cells
        FOR EACH ROW EXECUTE FUNCTION full_disk()`);
    await expect(client.create({ name: 'one-more' })).rejects.toMatchObject({
      code: 'store-unavailable',
      message: expect.stringContaining('No space left'),
    });
    await expect(client.pause(id)).rejects.toMatchObject({ code: 'store-unavailable' });
    expect((await client.list()).cells).toMatchObject([{ id }]);
    await admin.query('DROP TRIGGER full_disk ON workcell_service.cells; DROP FUNCTION full_disk');
    // Its name was not taken, and nothing of it was left.
    const { id: other } = await client.create({ name: 'one-more' });
    expect((await client.list()).cells.map((cell) => cell.id).toSorted()).toEqual([id, other].toSorted());
    for (const one of [id, other]) await client.remove(one);
  });
});

test('replicas talk to nobody who does not know their store', async () => {
  const seen: string[] = [];
  const link = await serveLink({ host: '127.0.0.1', port: 0 }, 'the secret', (socket) => {
    seen.push('let in');
    socket.on('error', () => {});
    socket.end('hello');
  });
  const to = { host: '127.0.0.1', port: link.port };
  await expect(new LinkAgent('another secret').connect(to)).rejects.toThrow();
  await expect(fetch(`http://127.0.0.1:${link.port}`)).rejects.toThrow();
  expect(seen).toEqual([]);
  const socket = await new LinkAgent('the secret').connect(to);
  expect(socket.getCipher().name).toContain('PSK');
  expect((await socket.toArray()).join('')).toBe('hello');
  link.close();
});
