/** What an operator sees of a service: requests in the log, and figures. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServiceClient } from '../../src/client/index.js';
import { type Service, startService } from '../../src/service/serve-service.js';

const directory = mkdtempSync(join(tmpdir(), 'workcell-seen-'));
const config = join(directory, 'service.toml');
const operatorKey = 'an-operator-key-of-the-test';

const logged: Record<string, unknown>[] = [];
const log = (level: string, message: string, fields: object = {}) =>
  void logged.push({ level, message, ...fields });

let service: Service;
let url: string;
let operator: ServiceClient;

/** What the webhook brought. */
const notices: Record<string, unknown>[] = [];
const hook = createServer(async (request, answer) => {
  notices.push(JSON.parse(await text(request)));
  answer.end();
});

beforeAll(async () => {
  hook.listen(0, '127.0.0.1');
  await once(hook, 'listening');
  writeFileSync(join(directory, 'secret'), 'a-secret-of-the-test\n', { mode: 0o600 });
  writeFileSync(
    config,
    `backend = "sandbox"\n[events]\nstore = "memory"\n[service]\nstore = "sqlite:${join(directory, 'service.db')}"\n[service.webhooks]\nurl = "http://127.0.0.1:${(hook.address() as AddressInfo).port}"\nsecret_file = "secret"\n`,
    { mode: 0o600 },
  );
  service = await startService({ listen: { host: '127.0.0.1', port: 0 }, operatorKey, config, log });
  url = `http://127.0.0.1:${(service.address as { port: number }).port}`;
  operator = new ServiceClient({ url, apiKey: operatorKey });
});

afterAll(async () => {
  await service.close();
  hook.close();
  rmSync(directory, { recursive: true, force: true });
});

test('a request has an id: in its answer, in its failure, and in the log', async () => {
  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${url}${path}`, { headers: { authorization: `Bearer ${operatorKey}`, ...headers } });
  const own = await ask('/v1/cells/nothing?secret=value', { 'x-request-id': 'trace-1:a/b=' });
  expect(own.headers.get('x-request-id')).toBe('trace-1:a/b=');
  expect(await own.json()).toMatchObject({ error: { code: 'cell-not-found' }, requestId: 'trace-1:a/b=' });
  const [made, bad] = [await ask('/v1/status'), await ask('/healthz', { 'x-request-id': 'no "quotes"' })];
  expect(made.headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/);
  expect(bad.headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/);
  const error = await operator.get('nothing').catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ details: { requestId: expect.stringMatching(/^[\da-f-]{36}$/) } });
  const line = { level: 'debug', message: 'A request was answered.', requestId: 'trace-1:a/b=', status: 404 };
  await expect.poll(() => logged).toContainEqual(expect.objectContaining(line));
  expect(logged.find(({ requestId }) => requestId === 'trace-1:a/b=')).toMatchObject({
    method: 'GET',
    route: '/v1/cells/:cell',
    error: 'cell-not-found',
    tenant: 'default',
    key: 'operator',
    cell: 'nothing',
    ms: expect.any(Number),
  });
  expect(JSON.stringify(logged)).not.toContain(operatorKey);
  expect(JSON.stringify(logged)).not.toContain('secret=value');
});

test('the metrics count actions by outcome and failures by code', async () => {
  const { key } = await operator.createKey({ tenant: 'figures' });
  const client = new ServiceClient({ url, apiKey: key });
  const { id } = await client.create();
  const act = (action: object, headers: Record<string, string> = {}) =>
    fetch(`${client.address(id)}/v1/actions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(action),
    });
  await act({ action: 'run', command: 'true' });
  await act({ action: 'run', command: 'false' });
  const missing = await act({ action: 'read', path: 'nothing' }, { 'x-request-id': 'inside' });
  expect(missing.headers.get('x-request-id')).toBe('inside');
  await expect(client.get('nothing')).rejects.toMatchObject({ code: 'cell-not-found' });
  const metrics = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${operatorKey}` } });
  const text = await metrics.text();
  expect(text).toContain('workcell_actions_total{tenant="figures",outcome="ok"} 2\n');
  expect(text).toContain('workcell_actions_total{tenant="figures",outcome="not-found"} 1\n');
  expect(text).toContain('workcell_errors_total{tenant="figures",code="cell-not-found"} 1\n');
  expect(text).toContain('workcell_egress_bytes_total{tenant="figures",direction="sent"} 0\n');
  expect(logged).toContainEqual(
    expect.objectContaining({ requestId: 'inside', route: '/v1/cells/:cell/v1/actions', tenant: 'figures' }),
  );
  await client.remove(id);
});

test('a webhook brings the states of a cell, from its start to its end', async () => {
  const { id } = await operator.create({ labels: { for: 'hook' } });
  await operator.pause(id);
  await operator.change(id, { labels: { for: 'nothing' } });
  await operator.resume(id);
  await operator.remove(id);
  const ofCell = () => notices.filter(({ cell }) => (cell as { id: string }).id === id);
  await expect.poll(() => ofCell().at(-1)).toMatchObject({ state: 'gone' });
  const states = ofCell().map(({ state, before }) => [before, state]);
  expect(states).toEqual([
    [undefined, 'starting'],
    ['starting', 'running'],
    ['running', 'paused'],
    ['paused', 'running'],
    ['running', 'gone'],
  ]);
  expect(ofCell()[0]).toMatchObject({ cell: { tenant: 'default', labels: { for: 'hook' } } });
});

test('a client waits for a state, and watches the cells of its tenant', async () => {
  const { key, id: keyId } = await operator.createKey({ tenant: 'watching', role: 'user' });
  const client = new ServiceClient({ url, apiKey: key });
  const [{ id }, other] = [await client.create({ labels: { team: 'web' } }), await operator.create()];
  const seen: unknown[] = [];
  const watch = client.watch({ labels: { team: 'web' } });
  const next = async () => seen.push((await watch.next()).value);
  await next();
  await next();
  const paused = client.wait(id, 'paused');
  await operator.pause(other.id);
  await client.pause(id);
  expect((await paused).state).toBe('paused');
  await next();
  await client.remove(id);
  await next();
  expect(seen).toMatchObject([
    { type: 'cell', cell: { id, state: 'running' } },
    { type: 'all' },
    { type: 'cell', cell: { id, state: 'paused' } },
    { type: 'gone', id },
  ]);
  await expect(client.wait(other.id, 'paused')).rejects.toMatchObject({ code: 'cell-not-found' });
  await expect(operator.wait(other.id, 'running', { timeoutMs: 1 })).rejects.toMatchObject({
    code: 'timed-out',
  });
  await expect(client.create({ name: 'watch' })).rejects.toMatchObject({ code: 'invalid-action' });
  const broken = watch.next();
  await operator.removeKey(keyId);
  await expect(broken).rejects.toMatchObject({ code: 'backend-unavailable' });
  const leave = new AbortController();
  const left = operator.watch({}, { signal: leave.signal });
  expect((await left.next()).value).toMatchObject({ cell: { id: other.id } });
  await left.next();
  const end = left.next();
  leave.abort();
  expect((await end).done).toBe(true);
  await operator.remove(other.id);
});
