/** Who may read what happened in a cell, while it is there and when it has ended. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import backend from '../../src/backends/service.js';
import { ServiceClient } from '../../src/client/index.js';
import { createRuntime } from '../../src/index.js';
import type { WorkcellEvent } from '../../src/protocol/index.js';
import type { RecordList, RecordPage } from '../../src/protocol/record-wire.js';
import { openEventStore } from '../../src/runtime/events/open.js';
import { Records } from '../../src/service/records.js';
import { type Service, startService } from '../../src/service/serve-service.js';

const directory = mkdtempSync(join(tmpdir(), 'workcell-records-'));
const config = join(directory, 'service.toml');
const operatorKey = 'an-operator-key-of-the-test';

writeFileSync(
  config,
  `backend = "sandbox"\n[events]\nstore = "sqlite:${join(directory, 'events.db')}"\n[service]\nstore = "sqlite:${join(directory, 'service.db')}"\n`,
  { mode: 0o600 },
);

let service: Service;
let url: string;
let operator: ServiceClient;

async function start(): Promise<void> {
  service = await startService({ listen: { host: '127.0.0.1', port: 0 }, operatorKey, config });
  url = `http://127.0.0.1:${(service.address as { port: number }).port}`;
  operator = new ServiceClient({ url, apiKey: operatorKey });
}

beforeAll(start);
afterAll(async () => {
  await service?.close();
  rmSync(directory, { recursive: true, force: true });
});

async function get(path: string, key: string) {
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });
  return { status: response.status, body: (await response.json()) as unknown };
}

async function list(key: string, query = ''): Promise<RecordList> {
  return (await get(`/v1/records${query}`, key)).body as RecordList;
}

/** All ids of a list, page by page. */
async function pages(key: string, limit: number): Promise<string[][]> {
  const found: string[][] = [];
  let next: string | undefined;
  do {
    const page = await list(key, `?limit=${limit}${next === undefined ? '' : `&cursor=${next}`}`);
    found.push(page.records.map(({ id }) => id));
    next = page.next;
  } while (next !== undefined);
  return found;
}

test('when a cell has ended, an admin of its tenant reads what happened there, and nobody else but the operator', async () => {
  const make = async (more: object) => (await operator.createKey(more)).key;
  const admin = await make({ tenant: 'mine', role: 'admin' });
  const user = await make({ tenant: 'mine', role: 'user' });
  const stranger = await make({ tenant: 'theirs', role: 'admin' });
  const client = new ServiceClient({ url, apiKey: user });
  const { id } = await client.create();
  const oneCell = await make({ tenant: 'mine', role: 'admin', cell: id });
  for (const [key, status] of [
    [admin, 200],
    [user, 200],
    [oneCell, 200],
    [stranger, 404],
  ] as const)
    expect((await get(`/v1/records/${id}`, key)).status).toBe(status);
  expect((await list(oneCell)).records).toMatchObject([{ id }]);
  await client.remove(id);
  // The next process knows it, too.
  await service.close();
  await start();
  for (const key of [admin, operatorKey]) {
    expect((await get(`/v1/records/${id}`, key)).body).toMatchObject({ events: expect.any(Array) });
    expect((await list(key)).records).toMatchObject([{ id, firstId: 1, lastId: expect.any(Number) }]);
  }
  const nothing = (await get(`/v1/records/${'f'.repeat(20)}`, user)).body;
  for (const key of [user, oneCell, stranger]) {
    expect(await get(`/v1/records/${id}`, key)).toMatchObject({
      status: 404,
      body: { error: { code: (nothing as { error: { code: string } }).error.code } },
    });
    expect((await get(`/v1/records/${id}/follow`, key)).status).toBe(404);
    expect(await list(key)).toEqual({ records: [] });
  }
});

test('records come page by page, those that began last first', async () => {
  const { key } = await operator.createKey({ tenant: 'paged', role: 'admin' });
  const client = new ServiceClient({ url, apiKey: key });
  const made: string[] = [];
  for (let count = 0; count < 5; count++) made.push((await client.create()).id);
  for (const id of [made[1], made[3]]) await client.remove(id ?? '');
  const youngest = made.toReversed();
  expect(await pages(key, 2)).toEqual([youngest.slice(0, 2), youngest.slice(2, 4), youngest.slice(4)]);
  expect(await pages(key, 5)).toEqual([youngest]);
  const all = await pages(operatorKey, 2);
  expect(all.slice(0, -1).every(({ length }) => length === 2)).toBe(true);
  expect(all.flat().slice(0, 5)).toEqual(youngest);
  expect((await get('/v1/records?limit=100000', key)).status).toBe(400);
  expect((await get('/v1/records?cursor=nonsense', key)).status).toBe(400);
  for await (const { id } of client.all()) await client.remove(id);
});

test('the end of a record comes without what is before it', async () => {
  const { id } = await operator.create();
  await fetch(`${operator.address(id)}/v1/actions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ action: 'run', command: 'echo end' }),
  });
  const read = async (query: string) =>
    ((await get(`/v1/records/${id}?${query}`, operatorKey)).body as RecordPage).events;
  const all = await read('');
  expect(all.length).toBeGreaterThan(2);
  expect(await read('tail=1&limit=2')).toEqual(all.slice(-2));
  expect(await read('tail=1')).toEqual(all);
  await operator.remove(id);
});

test('somebody who follows a long record leaves others their turn', async () => {
  const name = `sqlite:${join(directory, 'long.db')}`;
  const common = { at: Date.now(), runtimeId: 'long', source: 'agent' as const };
  const store = await openEventStore(name);
  const command = 'x'.repeat(500);
  const events = Array.from(
    { length: 20_000 },
    (_, index): WorkcellEvent => ({
      ...common,
      id: index + 1,
      kind: 'action',
      action: { action: 'run', command },
    }),
  );
  const status = { status: 'STOPPED', level: 'info', message: 'It ended.' } as const;
  await store.append([...events, { ...common, id: 20_001, kind: 'status', status }]);
  await store.close();
  const records = new Records(name);
  let turns = 0;
  let next = setImmediate(function count() {
    turns++;
    next = setImmediate(count);
  });
  let read = 0;
  for await (const page of records.follow('long', { after: 0, brief: true }, new AbortController().signal))
    read += page.length;
  clearImmediate(next);
  await records.close();
  expect(read).toBe(20_001);
  expect(turns).toBeGreaterThan(3);
});

test('a look at what a cell uses needs no lease, is in no record and counts as no use', async () => {
  const { key: apiKey } = await operator.createKey({ tenant: 'looked', role: 'admin' });
  await using runtime = await createRuntime({ backend: 'service', config: false, url, apiKey });
  await runtime.run('sleep 1000 & cd /tmp');
  const client = new ServiceClient({ url, apiKey });
  const { id } = await client.get(runtime.id);
  const before = (await get(`/v1/records/${id}`, apiKey)).body;
  const { usedAt } = await client.get(id);
  const used = await backend.stats?.(runtime.id, { url, apiKey }, {});
  expect(used).toMatchObject({
    observation: 'stats',
    processes: expect.any(Number),
    memoryBytes: expect.any(Number),
  });
  expect((await client.get(id)).usedAt).toBe(usedAt);
  expect((await get(`/v1/records/${id}`, apiKey)).body).toEqual(before);
  expect((await runtime.run('pwd')).output).toBe('/tmp\n');
  await expect(backend.stats?.('none', { url, apiKey }, {})).rejects.toMatchObject({
    code: 'cell-not-found',
  });
});
