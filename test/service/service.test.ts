import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { ServiceClient } from '../../src/client/index.js';
import { attachRuntime, createRuntime, listCells } from '../../src/index.js';
import { type Service, startService } from '../../src/service/serve-service.js';
import { findPostgres, startPostgres } from '../runtime/events/postgres-server.js';

const directory = mkdtempSync(join(tmpdir(), 'workcell-service-'));
const config = join(directory, 'service.toml');
const operatorKey = 'an-operator-key-of-the-test';
const listen = { host: '127.0.0.1', port: 0 };

/** For the second run of this file (vitest.config.ts): through a replica that passes everything on to another one. */
const programs = process.env.TEST_STORE_OF_SERVICE === 'postgres' ? findPostgres() : undefined;
const server = programs === undefined ? undefined : await startPostgres(programs);

writeFileSync(
  config,
  `
backend = "sandbox"
[events]
store = "sqlite:${join(directory, 'events.db')}"
[service]
store = "${server?.url ?? `sqlite:${join(directory, 'service.db')}`}"
[service.templates.small]
options = { limits = { pids = 64 }, env = { SIZE = "small" } }
[service.templates.short]
ttl = 3600
idle = 1800
[service.tenants.poor]
max_cells = 1
[service.tenants.busy]
max_requests = 4
`,
  { mode: 0o600 },
);

let service: Service;
let leader: Service | undefined;
let url: string;
let operator: ServiceClient;

async function start(): Promise<void> {
  if (server !== undefined && leader === undefined) {
    leader = await startService({ listen, operatorKey, config });
    expect((await fetch(`${urlOf(leader)}/readyz`)).status).toBe(200);
  }
  service = await startService({ listen, operatorKey, config });
  url = urlOf(service);
  operator = new ServiceClient({ url, apiKey: operatorKey });
}

async function stop(): Promise<void> {
  await service.close();
  await leader?.close();
  leader = undefined;
}

function urlOf({ address }: Service): string {
  return `http://127.0.0.1:${(address as { port: number }).port}`;
}

async function clientOf(tenant: string, more: object = {}): Promise<ServiceClient> {
  const { key } = await operator.createKey({ tenant, ...more });
  return new ServiceClient({ url, apiKey: key });
}

beforeAll(start);
afterAll(async () => {
  for await (const { id, tenant } of operator.all()) expect({ id, tenant }).toBeUndefined();
  await stop();
  await server?.stop();
  rmSync(directory, { recursive: true, force: true });
});

const runIn = async (
  client: ServiceClient,
  apiKey: string,
  cell: string,
  command: string,
  headers: Record<string, string> = {},
) => {
  const response = await fetch(`${client.address(cell)}/v1/actions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ action: 'run', command }),
  });
  return (await response.json()) as { output?: string; error?: { code: string } };
};

test('a cell is made, used, found and ended', async () => {
  const cell = await operator.create({ template: 'small', labels: { for: 'test' }, env: { WHO: 'me' } });
  expect(cell).toMatchObject({
    state: 'running',
    backend: 'sandbox',
    isolation: 'namespace',
    template: 'small',
  });
  const answer = await runIn(operator, operatorKey, cell.id, 'echo $SIZE $WHO');
  expect(answer).toMatchObject({ observation: 'run', exitCode: 0, output: 'small me\n' });
  expect((await operator.list({ labels: { for: 'test' } })).cells).toMatchObject([{ id: cell.id }]);
  expect((await operator.list({ labels: { for: 'other' } })).cells).toEqual([]);
  await operator.remove(cell.id);
  await expect(operator.get(cell.id)).rejects.toMatchObject({ code: 'cell-not-found' });
  expect((await listCells({ backend: 'sandbox', config })).map(({ id }) => id)).not.toContain(cell.id);
});

test('a cell starts with the files that its request brings', async () => {
  const source = join(directory, 'source');
  const git = (...words: string[]) =>
    execFileSync('git', ['-C', source, '-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words]);
  mkdirSync(source);
  git('init', '-q', '-b', 'main');
  writeFileSync(join(source, 'README.md'), 'from the repository\n');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  const data = execFileSync('tar', ['-C', directory, '-c', 'source']).toString('base64');
  const archive = { format: 'tar', data, path: 'given' } as const;
  const { id } = await operator.create({
    archive,
    repository: { url: './given/source', branch: 'main', into: 'clone' },
  });
  expect(await runIn(operator, operatorKey, id, 'cat given/source/README.md clone/README.md')).toMatchObject({
    output: 'from the repository\n'.repeat(2),
  });
  await operator.remove(id);
  const failing = { name: 'unfilled', archive, repository: { url: './given/nothing' } };
  await expect(operator.create(failing)).rejects.toMatchObject({ code: expect.any(String) });
  const outside = { name: 'unfilled', archive: { ...archive, path: '../../etc' } };
  await expect(operator.create(outside)).rejects.toMatchObject({ code: expect.any(String) });
  expect((await operator.list()).cells).toEqual([]);
});

test('a name and a repeated request lead to the same cell', async () => {
  const both = await Promise.all([operator.create({ name: 'mine' }), operator.create({ name: 'mine' })]);
  expect(both[0].id).toBe(both[1].id);
  await expect(operator.create({ name: 'mine', template: 'small' })).rejects.toMatchObject({
    code: 'already-exists',
  });
  const again = { idempotencyKey: 'once' };
  const cells = [await operator.create({}, again), await operator.create({}, again)];
  expect(cells[0]?.id).toBe(cells[1]?.id);
  await expect(operator.create({ labels: { a: 'b' } }, again)).rejects.toMatchObject({
    code: 'already-exists',
  });
  await operator.remove('mine');
  await operator.remove(cells[0]?.id ?? '');
});

test('backend service works in such a cell like in any other', async () => {
  const place = { backend: 'service', url, apiKey: operatorKey } as const;
  const runtime = await createRuntime({
    config: false,
    ...place,
    keepAlive: true,
    events: { store: 'memory' },
  });
  await runtime.write('a.txt', 'kept');
  expect((await runtime.run('cat a.txt')).output).toBe('kept');
  const terminal = await runtime.terminals.open({ argv: ['echo', 'on a terminal'] });
  const seen: string[] = [];
  for await (const chunk of terminal.output) seen.push(Buffer.from(chunk).toString());
  expect(seen.join('')).toContain('on a terminal');
  await runtime.pause();
  expect((await operator.get(runtime.id)).state).toBe('paused');
  await runtime.resume();
  await runtime.detach();
  const cells = await listCells({ config: false, ...place });
  expect(cells).toMatchObject([
    { id: runtime.id, status: 'running', isolation: 'namespace', place: { url } },
  ]);
  expect(JSON.stringify(cells)).not.toContain(operatorKey);
  const attached = await attachRuntime(runtime.id, { config: false, ...place, events: { store: 'memory' } });
  expect((await attached.run('cat a.txt')).output).toBe('kept');
  await attached.close();
  await expect(operator.get(runtime.id)).rejects.toMatchObject({ code: 'cell-not-found' });
});

test('cells outlive the service, and one that died is told of', async () => {
  const [kept, gone] = [await operator.create({ name: 'kept' }), await operator.create({ name: 'gone' })];
  await runIn(operator, operatorKey, kept.id, 'echo before > file; export IN=shell');
  const again = { 'idempotency-key': 'append-once' };
  await runIn(operator, operatorKey, kept.id, 'echo once >> times', again);
  await stop();
  const cell = await attachRuntime(
    { backend: 'sandbox', place: {}, id: gone.id },
    { config: false, events: { store: 'memory' } },
  );
  await cell.close();
  await start();
  expect(await operator.get('kept')).toMatchObject({ id: kept.id, state: 'running' });
  expect(await runIn(operator, operatorKey, 'kept', 'cat file; echo $IN')).toMatchObject({
    output: 'before\nshell\n',
  });
  expect(await runIn(operator, operatorKey, 'kept', 'echo once >> times', again)).toMatchObject({
    error: { code: 'output-not-found' },
  });
  expect(await runIn(operator, operatorKey, 'kept', 'cat times')).toMatchObject({ output: 'once\n' });
  expect(await operator.get('gone')).toMatchObject({ state: 'lost' });
  expect(await runIn(operator, operatorKey, 'gone', 'true')).toMatchObject({
    error: { code: 'runtime-disconnected' },
  });
  await operator.remove('kept');
  await operator.remove('gone');
});

test('a paused cell wakes with the next request', async () => {
  const { id } = await operator.create();
  expect((await operator.pause(id)).state).toBe('paused');
  expect(await runIn(operator, operatorKey, id, 'echo awake')).toMatchObject({ output: 'awake\n' });
  expect((await operator.get(id)).state).toBe('running');
  await operator.remove(id);
});

test('open requests of one key leave room for others of its tenant, other tenants and probes', async () => {
  const { key } = await operator.createKey({ tenant: 'busy' });
  const [first, second] = [new ServiceClient({ url, apiKey: key }), await clientOf('busy')];
  const { id } = await first.create();
  const leave = new AbortController();
  const held = { headers: { authorization: `Bearer ${key}` }, signal: leave.signal };
  await Promise.all(Array.from({ length: 3 }, () => fetch(`${first.address(id)}/hold`, held)));
  await expect(first.get(id)).rejects.toMatchObject({ code: 'rate-limited', details: { limit: 3 } });
  expect((await second.get(id)).id).toBe(id);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect((await (await clientOf('other')).list()).cells).toEqual([]);
  leave.abort();
  await expect.poll(() => first.get(id).catch(() => undefined)).toMatchObject({ id });
  await first.remove(id);
});

test('limits of a template hold whatever a client asks for', async () => {
  const cell = await operator.create({ template: 'short', ttlMs: 86_400_000, idleMs: 86_400_000 });
  expect(cell.idleMs).toBe(1_800_000);
  expect(Date.parse(cell.expiresAt ?? '') - Date.parse(cell.createdAt)).toBe(3_600_000);
  const longer = await operator.change(cell.id, { ttlMs: null, idleMs: null, labels: { new: 'label' } });
  expect(longer).toMatchObject({ idleMs: 1_800_000, expiresAt: cell.expiresAt, labels: { new: 'label' } });
  await operator.remove(cell.id);
});

test('a cell ends when its time is over', async () => {
  const { id } = await operator.create({ ttlMs: 1000 });
  await expect
    .poll(() => operator.get(id).catch(({ code }) => code), { timeout: 10_000 })
    .toBe('cell-not-found');
});

test('a cell that somebody holds is not idle', async () => {
  const { id } = await operator.create({ idleMs: 1000 });
  const hold = new AbortController();
  const held = operator.hold(id, { signal: hold.signal }).catch(() => 'let go');
  await runIn(operator, operatorKey, id, 'sleep 1.5');
  expect((await operator.get(id)).state).toBe('running');
  hold.abort();
  await held;
  await expect.poll(async () => (await operator.get(id)).state, { timeout: 10_000 }).toBe('paused');
  await operator.remove(id);
});

test('a cell that nobody uses is paused', async () => {
  const { id } = await operator.create({ idleMs: 1000 });
  await expect.poll(async () => (await operator.get(id)).state, { timeout: 10_000 }).toBe('paused');
  await operator.remove(id);
});

describe('tenants', () => {
  let poor: ServiceClient;
  let rich: ServiceClient;
  let richKey: string;
  beforeAll(async () => {
    poor = await clientOf('poor');
    ({ key: richKey } = await operator.createKey({ tenant: 'rich', role: 'admin' }));
    rich = new ServiceClient({ url, apiKey: richKey });
  });

  test('a tenant can neither see nor name what another has', async () => {
    const cell = await rich.create({ name: 'secret' });
    for (const named of [cell.id, 'secret']) {
      const missing = { code: 'cell-not-found' };
      await expect(poor.get(named)).rejects.toMatchObject(missing);
      await expect(poor.remove(named)).rejects.toMatchObject(missing);
      await expect(poor.pause(named)).rejects.toMatchObject(missing);
      await expect(poor.change(named, { labels: {} })).rejects.toMatchObject(missing);
    }
    expect((await poor.list()).cells).toEqual([]);
    const own = await poor.create({ name: 'secret' });
    expect(own.id).not.toBe(cell.id);
    await poor.remove('secret');
    expect((await rich.get('secret')).state).toBe('running');
    await rich.remove('secret');
  });

  test('every route of a cell asks for the key of its tenant, sockets too', async () => {
    const cell = await rich.create();
    const { key } = await operator.createKey({ tenant: 'poor' });
    const below = [
      ['GET', '/v1/info'],
      ['GET', '/alive'],
      ['GET', '/ready'],
      ['GET', '/metrics'],
      ['GET', '/v1/events'],
      ['GET', '/v1/files?path=.'],
      ['PUT', '/v1/files?path=x'],
      ['POST', '/v1/actions'],
      ['POST', '/v1/close'],
      ['DELETE', '/v1/actions/x'],
    ] as const;
    for (const [method, path] of below) {
      const ask = (headers: Record<string, string>) =>
        fetch(`${rich.address(cell.id)}${path}`, { method, headers }).then(({ status }) => status);
      expect([path, await ask({})]).toEqual([path, 401]);
      expect([path, await ask({ authorization: `Bearer ${key}` })]).toEqual([path, 404]);
    }
    for (const path of ['/v1/terminals', '/v1/ports/80', '/v1/events']) {
      const address = `${rich.address(cell.id)}${path}`.replace('http', 'ws');
      expect([path, await refusal(address, {})]).toEqual([path, 401]);
      expect([path, await refusal(address, { authorization: `Bearer ${key}` })]).toEqual([path, 404]);
    }
    await rich.remove(cell.id);
  });

  test('a tenant has no more cells than it may, and the next tenant has its own', async () => {
    const only = await poor.create();
    await expect(poor.create()).rejects.toMatchObject({ code: 'rate-limited', details: { limit: 1 } });
    const other = await rich.create();
    await poor.remove(only.id);
    await rich.remove(other.id);
  });

  test('a key makes none that may do more than itself', async () => {
    await expect(poor.createKey()).rejects.toMatchObject({ code: 'denied' });
    await expect(rich.createKey({ tenant: 'poor' })).rejects.toMatchObject({ code: 'denied' });
    const soon = new Date(Date.now() + 60_000).toISOString();
    const { key, id } = await rich.createKey({ role: 'admin', expiresAt: soon });
    const brief = new ServiceClient({ url, apiKey: key });
    await expect(brief.createKey()).rejects.toMatchObject({ code: 'denied' });
    await expect(brief.createKey({ expiresAt: soon })).resolves.toMatchObject({ tenant: 'rich' });
    expect((await rich.listKeys()).keys.map(({ tenant }) => tenant)).not.toContain('poor');
    await rich.removeKey(id);
    await expect(brief.list()).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test('whether another tenant has a cell is told to no key', async () => {
    const cell = await rich.create({ name: 'secret' });
    for (const role of ['reader', 'user', 'admin'] as const) {
      const other = await clientOf('poor', { role });
      for (const named of ['secret', cell.id, 'nothing'])
        await expect(other.createKey({ tenant: 'rich', cell: named })).rejects.toMatchObject({
          code: 'denied',
        });
    }
    await rich.remove('secret');
  });

  test('removing a key ends what it has open', async () => {
    const cell = await rich.create();
    const { key, id } = await rich.createKey({ role: 'reader' });
    const socket = new WebSocket(`${rich.address(cell.id)}/v1/events`.replace('http', 'ws'), {
      headers: { authorization: `Bearer ${key}` },
    });
    await new Promise((resolve) => socket.once('open', resolve));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await rich.removeKey(id);
    await closed;
    await rich.remove(cell.id);
  });

  test('the operator ends cells of every tenant', async () => {
    const { id } = await rich.create({ name: 'runaway' });
    await expect(operator.get('runaway')).rejects.toMatchObject({ code: 'cell-not-found' });
    expect((await operator.get(id)).tenant).toBe('rich');
    await operator.remove(id);
    await expect(rich.get(id)).rejects.toMatchObject({ code: 'cell-not-found' });
  });

  test('a key of the past is none', async () => {
    const past = await clientOf('rich', { expiresAt: new Date(Date.now() - 1).toISOString() });
    await expect(past.list()).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test('a key for one cell opens that one, and a reader changes nothing', async () => {
    const [one, two] = [await rich.create(), await rich.create()];
    const bound = await clientOf('rich', { cell: one.id });
    expect((await bound.list()).cells.map(({ id }) => id)).toEqual([one.id]);
    await expect(bound.get(two.id)).rejects.toMatchObject({ code: 'cell-not-found' });
    await expect(bound.create()).rejects.toMatchObject({ code: 'denied' });
    const { key } = await rich.createKey({ role: 'reader' });
    const reader = new ServiceClient({ url, apiKey: key });
    expect((await reader.get(two.id)).id).toBe(two.id);
    await expect(reader.remove(two.id)).rejects.toMatchObject({ code: 'denied' });
    expect(await runIn(reader, key, two.id, 'true')).toMatchObject({ error: { code: 'denied' } });
    const terminal = `${reader.address(two.id)}/v1/terminals`.replace('http', 'ws');
    expect(await refusal(terminal, { authorization: `Bearer ${key}` })).toBe(403);
    await rich.pause(two.id);
    const info = await fetch(`${reader.address(two.id)}/v1/info`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(info.status).toBe(403);
    await rich.remove(one.id);
    await rich.remove(two.id);
  });
});

test('the operator sees how the service does, and an admin what its tenant used', async () => {
  const { key } = await operator.createKey({ tenant: 'counted', role: 'admin' });
  const client = new ServiceClient({ url, apiKey: key });
  const { id } = await client.create();
  expect(await operator.status()).toMatchObject({ cells: { running: 1, lost: 0 }, tenants: 1, spare: 0 });
  await client.remove(id);
  const [row, ...others] = await client.usage();
  expect(row).toMatchObject({ tenant: 'counted', cells: 1 });
  expect(others).toEqual([]);
  expect((await operator.usage()).map(({ tenant }) => tenant)).toContain('counted');
  await expect(client.status()).rejects.toMatchObject({ code: 'denied' });
  const headers = { authorization: `Bearer ${key}` };
  const table = await fetch(`${url}/v1/usage?format=csv`, { headers });
  expect(await table.text()).toMatch(/^tenant,day,cell_seconds,cells\ncounted,\d{4}-\d\d-\d\d,[\d.]+,1\n$/);
  expect((await fetch(`${url}/v1/usage?tenant=default`, { headers })).status).toBe(403);
  const metrics = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${operatorKey}` } });
  const text = await metrics.text();
  expect(text).toContain('workcell_cell_creation_seconds_count{tenant="counted"} 1');
  expect(text).toContain('workcell_requests_total{tenant="counted",code="4xx"}');
});

test('a second service on the same file is refused, and on the same database it is one with the first', async () => {
  if (server !== undefined) {
    const cell = await operator.create();
    const other = await startService({ listen, operatorKey, config });
    const client = new ServiceClient({ url: urlOf(other), apiKey: operatorKey });
    expect((await client.list()).cells).toMatchObject([{ id: cell.id }]);
    await client.remove(cell.id);
    return other.close();
  }
  await expect(startService({ listen, operatorKey, config })).rejects.toMatchObject({
    code: 'store-unavailable',
    message: expect.stringContaining('serves from'),
  });
  expect((await operator.list()).cells).toEqual([]);
});

test('what is not for this server is refused', async () => {
  const answer = await fetch(`${url}/v1/cells`, { headers: { origin: 'http://evil.example' } });
  expect(answer.status).toBe(403);
  expect((await fetch(`${url}/v1/cells`)).status).toBe(401);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  await expect(operator.create({ template: 'none' })).rejects.toMatchObject({ code: 'not-found' });
  await expect(operator.create({ privileged: true } as object)).rejects.toMatchObject({
    code: 'invalid-action',
  });
});

function refusal(address: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(address, { headers });
    socket.on('unexpected-response', (_request, { statusCode }) => {
      socket.terminate();
      resolve(statusCode);
    });
    socket.on('error', () => {});
    socket.on('open', () => {
      socket.terminate();
      reject(new Error('The socket was opened.'));
    });
  });
}
