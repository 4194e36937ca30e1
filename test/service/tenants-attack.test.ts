/**
 * One tenant against another, on every route there is: whatever the attacker names, the answer is the one that he gets for
 * what does not exist, and nothing of the victim changes.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { ServiceClient } from '../../src/client/index.js';
import { e2bMount } from '../../src/compat/e2b/e2b-mount.js';
import {
  remoteRuntimeApi,
  remoteRuntimeTemplates,
} from '../../src/compat/openhands-remote/remote-runtime-api.js';
import { type Service, startService } from '../../src/service/serve-service.js';
import { type ServedRoute, servedRoutes } from './service-routes.js';

const directory = mkdtempSync(join(tmpdir(), 'workcell-attack-'));
const config = join(directory, 'service.toml');
const operatorKey = 'an-operator-key-of-the-test';
const canary = 'the-secret-of-the-victim';
const also = [remoteRuntimeApi, e2bMount];

let service: Service;
let url: string;
let operator: ServiceClient;
let victim: ServiceClient;
let victimKey: string;
let cell: string;
let session: string;
let checkpoint: string;
/** Keys of others, by what they are. */
const keys = new Map<string, string>();

const send = (path: string, key: string | undefined, init: RequestInit = {}) =>
  fetch(`${url}${path}`, {
    ...init,
    headers: {
      // Answers to two requests differ in nothing else.
      'x-request-id': 'the-same',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(init.body !== undefined && { 'content-type': 'application/json' }),
      ...init.headers,
    },
  });

beforeAll(async () => {
  writeFileSync(
    config,
    `backend = "sandbox"\n[events]\nstore = "sqlite:${join(directory, 'events.db')}"\n[service]\nstore = "sqlite:${join(directory, 'service.db')}"\npreview_listen = "127.0.0.1:0"\n`,
    { mode: 0o600 },
  );
  service = await startService({
    listen: { host: '127.0.0.1', port: 0 },
    operatorKey,
    config,
    also,
    templates: remoteRuntimeTemplates,
  });
  url = `http://127.0.0.1:${(service.address as { port: number }).port}`;
  operator = new ServiceClient({ url, apiKey: operatorKey });
  const make = async (more: object) => (await operator.createKey(more)).key;
  victimKey = await make({ tenant: 'victim', role: 'admin' });
  victim = new ServiceClient({ url, apiKey: victimKey });
  cell = (await victim.create({ name: 'treasure', labels: { is: canary } }, { idempotencyKey: 'known' })).id;
  await send(`/v1/cells/${cell}/v1/files?path=secret`, victimKey, {
    method: 'PUT',
    body: canary,
    headers: { 'content-type': 'application/octet-stream' },
  });
  checkpoint = (await victim.checkpoint(cell, { label: canary })).id;
  const started = await send('/openhands/start', victimKey, {
    method: 'POST',
    body: JSON.stringify({ session_id: 'treasure', environment: { IS: canary } }),
  });
  session = ((await started.json()) as { runtime_id: string }).runtime_id;
  const attackerCell = (await operator.create()).id;
  for (const role of ['reader', 'user', 'admin'] as const)
    keys.set(role, await make({ tenant: 'attacker', role }));
  keys.set('one cell of another tenant', await make({ tenant: 'default', cell: attackerCell }));
  const own = (await victim.create({ name: 'other' })).id;
  keys.set('another cell of the same tenant', (await victim.createKey({ cell: own })).key);
}, 60_000);

afterAll(async () => {
  for (const tenant of ['victim', 'attacker', 'default']) {
    const { cells } = (await (await send(`/v1/cells?tenant=${tenant}`, operatorKey)).json()) as {
      cells: { id: string }[];
    };
    for (const { id } of cells) await operator.remove(id);
  }
  await service?.close();
  rmSync(directory, { recursive: true, force: true });
});

const nothing = 'f'.repeat(20);

/** The same request about something of the victim, and about nothing. */
function pairsOf({ url: path }: ServedRoute): [string, string][] {
  const fill = (value: string) => path.replaceAll(/:\w+/g, encodeURIComponent(value)).replace('*', 'alive');
  if (!path.includes(':')) return [];
  if (path.includes(':checkpoint')) return [[fill(checkpoint), fill(nothing)]];
  const names = path.startsWith('/openhands') ? [session, 'treasure'] : [cell, session, 'treasure'];
  return names.map((name) => [fill(name), fill(name.length === 20 ? nothing : 'nothing!')]);
}

/** What an answer says, without the name that was asked for. */
async function told(response: Response, asked: string): Promise<string> {
  const text = await response.text();
  const plain = [cell, session, checkpoint, 'treasure', nothing, 'nothing!'].reduce(
    (left, name) => left.replaceAll(name, 'NAME').replaceAll(encodeURIComponent(name), 'NAME'),
    text,
  );
  expect(`${asked}: ${text}`).not.toContain(canary);
  return `${response.status} ${plain}`;
}

test('what others have looks like what does not exist, on every route and with every key', async () => {
  const routes = (await servedRoutes(also)).filter(({ socket }) => socket !== 'only');
  const bodies = [undefined, '{}', JSON.stringify({ runtime_id: session })];
  let asked = 0;
  for (const route of routes)
    for (const [there, absent] of pairsOf(route))
      for (const [whose, key] of keys)
        for (const body of ['GET', 'DELETE'].includes(route.method) ? [undefined] : bodies) {
          const init = { method: route.method, ...(body !== undefined && { body }) };
          const what = `${route.method} ${there} with the key "${whose}"`;
          // Told without any key while a runtime is there: its id is what nobody can guess.
          if (/\/runtimes\/[^/]+\/(alive|health)$/.test(there)) continue;
          const [real, none] = [
            await told(await send(there, key, init), what),
            await told(await send(absent, key, init), what),
          ];
          expect(`${what}: ${real}`).toBe(`${what}: ${none}`);
          asked++;
        }
  expect(asked).toBeGreaterThan(300);
});

test('sockets are refused alike', async () => {
  const routes = (await servedRoutes(also)).filter(({ socket }) => socket !== 'no');
  expect(routes.length).toBeGreaterThan(2);
  for (const route of routes)
    for (const [there, absent] of pairsOf(route))
      for (const [whose, key] of keys) {
        const what = `${there} with the key "${whose}"`;
        expect(`${what}: ${await refusal(there, key)}`).toBe(`${what}: ${await refusal(absent, key)}`);
      }
});

test('without a key every route but the open ones is closed', async () => {
  const pages = ['/', '/console', '/console/*'];
  const open = ['/healthz', '/readyz', '/openapi.json', '/openhands/health', ...pages];
  for (const route of await servedRoutes(also)) {
    if (route.socket === 'only' || open.includes(route.url) || route.url.startsWith('/openhands/runtimes'))
      continue;
    const path = pairsOf(route)[0]?.[0] ?? route.url;
    const { status } = await send(path, undefined, { method: route.method });
    expect([route.method, path, status]).toEqual([route.method, path, 401]);
  }
});

test('lists, labels, cursors, names and keys of requests lead to nobody else', async () => {
  for (const [whose, key] of keys) {
    const lists = [
      '/v1/cells',
      `/v1/cells?label=is%3D${canary}`,
      `/v1/cells?cursor=${cell.slice(0, 19)}`,
      '/v1/cells?tenant=victim',
      '/v1/checkpoints',
      `/v1/checkpoints?cell=${cell}`,
      '/openhands/list',
      '/openhands/sessions/batch?ids=treasure',
    ];
    for (const path of lists) {
      const text = await (await send(path, key)).text();
      for (const known of [cell, session, checkpoint, canary])
        expect([whose, path, text.includes(known)]).toEqual([whose, path, false]);
    }
    for (const path of ['/metrics', '/v1/cells?tenant=victim']) {
      const { status } = await send(path, key);
      if (!path.includes('tenant') || whose !== 'another cell of the same tenant')
        expect([whose, path, status]).toEqual([whose, path, 403]);
    }
  }
  const attacker = new ServiceClient({ url, apiKey: keys.get('user') ?? '' });
  const same = await attacker.create({ name: 'treasure' }, { idempotencyKey: 'known' });
  expect(same).toMatchObject({ tenant: 'attacker' });
  expect(same.id).not.toBe(cell);
  const [{ id: known } = { id: '' }] = (await victim.listKeys()).keys;
  const admin = new ServiceClient({ url, apiKey: keys.get('admin') ?? '' });
  await expect(admin.removeKey(known)).rejects.toMatchObject({ code: 'not-found' });
  await expect(admin.createKey({ tenant: 'victim' })).rejects.toMatchObject({ code: 'denied' });
  await expect(admin.createKey({ cell })).rejects.toMatchObject({ code: 'cell-not-found' });
});

test('after all that, the victim has what it had', async () => {
  expect(await victim.get('treasure')).toMatchObject({ id: cell, state: 'running', labels: { is: canary } });
  expect(await victim.get(session)).toMatchObject({ state: 'running' });
  expect(await victim.getCheckpoint(checkpoint)).toMatchObject({ cell, label: canary });
  const file = await send(`/v1/cells/${cell}/v1/files?path=secret`, victimKey);
  expect(await file.text()).toBe(canary);
});

function refusal(path: string, key: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${url}${path}`.replace('http', 'ws'), {
      headers: { authorization: `Bearer ${key}` },
    });
    socket.on('unexpected-response', (_request, { statusCode }) => {
      socket.terminate();
      resolve(statusCode);
    });
    socket.on('error', () => {});
    socket.on('open', () => {
      socket.terminate();
      resolve(101);
    });
  });
}
