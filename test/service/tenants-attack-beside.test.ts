/**
 * Two tenants on one service, beside its own routes: previews, cells of a pool, questions, sandboxes of E2B, and what it does to
 * find a cell. Whatever the attacker names, he gets what he gets for what does not exist.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServiceClient } from '../../src/client/index.js';
import { e2bMount } from '../../src/compat/e2b/e2b-mount.js';
import { findCell } from '../../src/service/asked-before.js';
import { type Service, startService } from '../../src/service/serve-service.js';
import type { CellRecord } from '../../src/service/service-store.js';
import { servedRoutes } from './service-routes.js';

const directory = mkdtempSync(join(tmpdir(), 'workcell-attack-'));
const config = join(directory, 'service.toml');
const operatorKey = 'an-operator-key-of-the-test';
const canary = 'the-secret-of-the-victim';
const nothing = 'f'.repeat(20);

writeFileSync(
  config,
  `
backend = "sandbox"
[events]
store = "sqlite:${join(directory, 'events.db')}"
[security]
guards = ["rules"]
confirm = "store"
rules = [
  { decision = "confirm", command = "touch asked*", reason = "the test wants a person" },
  { decision = "allow", command = "*" },
  { decision = "allow", action = "*" },
]
[service]
store = "sqlite:${join(directory, 'service.db')}"
preview_listen = "127.0.0.1:0"
[service.templates.warm]
pool = 1
`,
  { mode: 0o600 },
);

let service: Service;
let url: string;
let operator: ServiceClient;
let victimKey: string;
let victim: ServiceClient;
let attackerKey: string;
let attacker: ServiceClient;
let cell: string;

const send = (path: string, key: string, init: RequestInit = {}) =>
  fetch(`${url}${path}`, {
    ...init,
    headers: {
      'x-request-id': 'the-same',
      authorization: `Bearer ${key}`,
      ...(init.body !== undefined && { 'content-type': 'application/json' }),
      ...init.headers,
    },
  });

/** What an answer says, without the names that were asked for. */
async function told(response: Response, ...names: string[]): Promise<string> {
  const text = await response.text();
  expect(text).not.toContain(canary);
  return `${response.status} ${names.reduce((left, name) => left.replaceAll(name, 'NAME'), text)}`;
}

beforeAll(async () => {
  service = await startService({
    listen: { host: '127.0.0.1', port: 0 },
    operatorKey,
    config,
    also: [e2bMount],
  });
  url = `http://127.0.0.1:${(service.address as { port: number }).port}`;
  operator = new ServiceClient({ url, apiKey: operatorKey });
  victimKey = (await operator.createKey({ tenant: 'victim', role: 'admin' })).key;
  attackerKey = (await operator.createKey({ tenant: 'attacker', role: 'admin' })).key;
  victim = new ServiceClient({ url, apiKey: victimKey });
  attacker = new ServiceClient({ url, apiKey: attackerKey });
  cell = (await victim.create({ name: 'treasure', labels: { is: canary } })).id;
});

afterAll(async () => {
  for (const client of [victim, attacker]) for await (const { id } of client.all()) await client.remove(id);
  await service?.close();
  rmSync(directory, { recursive: true, force: true });
});

test('a link of his own, changed to the cell of another, is no link', async () => {
  const own = (await attacker.create()).id;
  const link = new URL((await attacker.preview(own, { port: 8000 })).url);
  const real = new URL((await victim.preview(cell, { port: 8000 })).url);
  const visit = async (path: string) => told(await fetch(`${link.origin}${path}`), cell, nothing, own);
  const none = await visit('/nonsense/');
  expect(none).toMatch(/^40[34] /);
  const forged = [
    link.pathname.replace(own, cell),
    link.pathname.replace(own, nothing),
    // The victim's, for another port, for longer, and under his own key.
    real.pathname.replace('-8000-', '-8001-'),
    real.pathname.replace(/-(\d{13})-/, (_, at) => `-${Number(at) + 1000}-`),
    real.pathname.replace(/-[0-9a-f]{16}-/, `-${/-([0-9a-f]{16})-/.exec(link.pathname)?.[1]}-`),
    real.pathname.slice(0, -2),
  ];
  for (const path of forged) expect([path, await visit(path)]).toEqual([path, none]);
  for (const id of [cell, nothing]) {
    const asked = await send(`/v1/cells/${id}/previews`, attackerKey, {
      method: 'POST',
      body: '{"port":8000}',
    });
    expect((await told(asked, id)).slice(0, 3)).toBe('404');
  }
  await attacker.remove(own);
});

test('cells that wait for one tenant are there for no other', async () => {
  const first = (await victim.create({ template: 'warm' })).id;
  await expect.poll(async () => (await operator.status()).spare, { timeout: 30_000 }).toBe(1);
  const known = new Set<string>();
  for (const client of [victim, attacker]) for await (const { id } of client.all()) known.add(id);
  const database = new DatabaseSync(join(directory, 'service.db'), { readOnly: true });
  const kept = database.prepare('SELECT id FROM cells').all() as { id: string }[];
  database.close();
  const spare = kept.map(({ id }) => id).filter((id) => !known.has(id));
  expect(spare).toHaveLength(1);
  for (const method of ['GET', 'DELETE', 'PATCH'])
    for (const [id, name] of [
      [spare[0], spare[0]],
      [nothing, nothing],
    ])
      expect(
        await told(
          await send(`/v1/cells/${id}`, attackerKey, { method, ...(method === 'PATCH' && { body: '{}' }) }),
          name ?? '',
        ),
      ).toMatch(/^404 /);
  const taken = await attacker.create({ template: 'warm' });
  expect(spare).not.toContain(taken.id);
  const own = await victim.create({ template: 'warm' });
  expect(spare).toContain(own.id);
  for (const id of [first, own.id]) await victim.remove(id);
  await attacker.remove(taken.id);
});

test('a question of another can be neither seen nor answered', async () => {
  const asking = send(`/v1/cells/${cell}/v1/actions`, victimKey, {
    method: 'POST',
    body: JSON.stringify({ action: 'run', command: `touch asked-${canary}` }),
  });
  const questions = async (key: string) =>
    (await (await send('/v1/questions', key)).json()) as { id: string }[];
  await expect.poll(async () => (await questions(victimKey)).length, { timeout: 30_000 }).toBe(1);
  const [{ id } = { id: '' }] = await questions(victimKey);
  expect(await questions(attackerKey)).toEqual([]);
  const answer = (question: string) =>
    send(`/v1/questions/${question}`, attackerKey, { method: 'POST', body: '{"answer":"approve"}' });
  const absent = nothing.slice(0, id.length);
  expect(await told(await answer(id), id)).toBe(await told(await answer(absent), absent));
  const record = async (named: string) =>
    told(await send(`/v1/records/${named}?text=asked`, attackerKey), named);
  expect(await record(cell)).toBe(await record(nothing));
  expect((await questions(victimKey)).map((question) => question.id)).toEqual([id]);
  await send(`/v1/questions/${id}`, victimKey, { method: 'POST', body: '{"answer":"deny"}' });
  expect(await (await asking).json()).toMatchObject({ error: { code: 'denied' } });
});

test('requests that name a sandbox of E2B get in with no key and no token of another', async () => {
  const make = async (key: string) =>
    (await (
      await send('/sandboxes', key, {
        method: 'POST',
        body: JSON.stringify({ templateID: 'base', secure: true, network: { allowPublicTraffic: false } }),
      })
    ).json()) as { sandboxID: string; envdAccessToken: string; trafficAccessToken: string };
  const [theirs, own] = [await make(victimKey), await make(attackerKey)];
  const routes = (await servedRoutes([e2bMount])).filter(({ socket }) => socket !== 'only');
  const inside = (route: { method: string; url: string }, port: string, body: string | undefined) =>
    send(route.url.replaceAll(/:\w+/g, theirs.sandboxID).replace('*', 'x'), attackerKey, {
      method: route.method,
      ...(body !== undefined && { body }),
      headers: {
        'e2b-sandbox-id': theirs.sandboxID,
        'e2b-sandbox-port': port,
        'idempotency-key': 'the-same',
        'x-api-key': attackerKey,
        'x-access-token': own.envdAccessToken,
        'e2b-traffic-access-token': own.trafficAccessToken,
      },
    });
  let asked = 0;
  for (const route of routes)
    for (const port of ['49983', '49999', '8000'])
      for (const body of ['GET', 'DELETE'].includes(route.method) ? [undefined] : ['{}']) {
        const answer = await inside(route, port, body);
        const what = `${route.method} ${route.url} on ${port}`;
        // Health is for everybody who knows the id, which nobody can guess.
        if (route.url === '/health' && port === '49983') continue;
        expect([what, [400, 401, 403, 404, 405, 415].includes(answer.status), answer.status]).toEqual([
          what,
          true,
          answer.status,
        ]);
        expect(await answer.text()).not.toContain(canary);
        asked++;
      }
  expect(asked).toBeGreaterThan(100);
  for (const [path, init] of [
    [`/sandboxes/${theirs.sandboxID}`, {}],
    [`/sandboxes/${theirs.sandboxID}`, { method: 'DELETE' }],
    [`/sandboxes/${theirs.sandboxID}/connect`, { method: 'POST', body: '{}' }],
    [`/sandboxes/${theirs.sandboxID}/pause`, { method: 'POST', body: '{}' }],
  ] as const)
    expect(await told(await send(path, attackerKey, init), theirs.sandboxID)).toBe(
      await told(await send(path.replace(theirs.sandboxID, nothing), attackerKey, init), nothing),
    );
  expect((await victim.get(theirs.sandboxID)).state).toBe('running');
  await attacker.remove(own.sandboxID);
  await victim.remove(theirs.sandboxID);
});

test('the service does as much for the cell of another as for none', () => {
  const records = new Map<string, CellRecord>();
  for (let at = 0; at < 100; at++)
    records.set(`cell-${at}`, {
      id: `cell-${at}`,
      tenant: at % 2 ? 'victim' : 'attacker',
      name: `name-${at}`,
    } as CellRecord);
  /** How often a search reads a field of a record. */
  const work = (wanted: string) => {
    let reads = 0;
    const counted = new Map(
      [...records].map(([id, record]) => [
        id,
        new Proxy(record, {
          get(target, field) {
            reads++;
            return Reflect.get(target, field);
          },
        }),
      ]),
    );
    expect(findCell(counted, 'attacker', wanted)).toBeUndefined();
    return reads;
  };
  // One look at the record that has this id; what else it does depends on his own cells alone.
  expect(work('cell-1') - work('none')).toBe(1);
  expect(work('name-1')).toBe(work('none'));
});
