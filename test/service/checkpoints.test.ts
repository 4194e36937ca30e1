/** Checkpoints by API: of cells that a service keeps, beyond the end of those cells and of the service. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ServiceClient } from '../../src/client/index.js';
import { type Service, startService } from '../../src/service/serve-service.js';

const directory = mkdtempSync(join(tmpdir(), 'workcell-service-checkpoints-'));
const config = join(directory, 'service.toml');
/** Made once, and shown to all cells of a template. */
const prepared = join(directory, 'prepared');
const kept = join(directory, 'service.db.checkpoints');
const operatorKey = 'an-operator-key-of-the-test';

let service: Service;
let url: string;
let operator: ServiceClient;
let key: string;
let client: ServiceClient;

async function start(): Promise<void> {
  mkdirSync(prepared, { recursive: true });
  writeFileSync(join(prepared, 'tool'), 'prepared');
  writeFileSync(
    config,
    `
backend = "sandbox"
[events]
store = "sqlite:${join(directory, 'events.db')}"
[service]
store = "sqlite:${join(directory, 'service.db')}"
max_checkpoints_per_tenant = 4
max_checkpoint_bytes_per_tenant = 100_000
[service.templates.prepared]
options = { read_only = ["${prepared}"] }
[service.tenants.few]
max_cells = 2
`,
    { mode: 0o600 },
  );
  service = await startService({ listen: { host: '127.0.0.1', port: 0 }, operatorKey, config });
  url = `http://127.0.0.1:${(service.address as { port: number }).port}`;
  operator = new ServiceClient({ url, apiKey: operatorKey });
}

beforeAll(async () => {
  await start();
  ({ key } = await operator.createKey({ tenant: 'few' }));
  client = new ServiceClient({ url, apiKey: key });
});

afterEach(clear);
afterAll(async () => {
  await service.close();
  rmSync(directory, { recursive: true, force: true });
});

async function ask(path: string, body: object): Promise<Record<string, unknown>> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await response.json()) as Record<string, unknown>;
}

const run = async (cell: string, command: string) =>
  (await ask(`/v1/cells/${cell}/v1/actions`, { action: 'run', command })).output;

async function clear(): Promise<void> {
  for await (const { id } of client.all()) await client.remove(id);
  for (const { id } of (await client.listCheckpoints()).checkpoints) await client.removeCheckpoint(id);
}

test('a cell goes back to a checkpoint, and back again', async () => {
  const { id } = await client.create();
  await run(
    id,
    'printf one > file; mkdir empty; ln -s file link; printf x > both; ln both other; chmod 700 both',
  );
  const before = await client.checkpoint(id, { label: 'before' });
  expect(before).toMatchObject({ cell: id, tenant: 'few', label: 'before', files: 3 });
  await run(id, 'printf two > file; rmdir empty; rm link both; printf new > added');
  const { changes, more } = await client.diff(id, { before: before.id });
  expect(more).toBe(0);
  expect(changes.map(({ path, change }) => `${change} ${path}`).sort()).toEqual([
    'added added',
    'changed file',
    'removed both',
    'removed empty',
    'removed link',
  ]);
  expect(changes.find(({ path }) => path === 'file')?.patch).toContain('-one');
  const { recovery } = await client.rewind(id, { checkpoint: before.id });
  expect(await run(id, 'cat file link; ls -1; stat -c %a:%h both')).toBe(
    'oneoneboth\nempty\nfile\nlink\nother\n700:2\n',
  );
  expect(recovery).toMatchObject({ cell: id, parent: before.id });
  await client.rewind(id, { checkpoint: recovery?.id as string, recovery: false });
  expect(await run(id, 'cat file; ls -1')).toBe('twoadded\nfile\nother\n');
  expect((await client.listCheckpoints({ cell: id })).checkpoints).toEqual([before, recovery]);
  const page = await client.listCheckpoints({ limit: 1 });
  expect(page.checkpoints).toEqual([before]);
  expect((await client.listCheckpoints({ cursor: page.next })).checkpoints).toEqual([recovery]);
});

test('where what is there now cannot be kept, going back changes no file', async () => {
  const { id } = await client.create();
  await run(id, 'printf one > file');
  const before = await client.checkpoint(id);
  await run(id, 'printf two > file; printf new > added');
  const store = new DatabaseSync(join(directory, 'service.db'));
  store.exec(
    "CREATE TRIGGER refused BEFORE INSERT ON checkpoints BEGIN SELECT RAISE(ABORT, 'no space left'); END",
  );
  await expect(client.rewind(id, { checkpoint: before.id })).rejects.toMatchObject({
    code: 'store-unavailable',
  });
  store.exec('DROP TRIGGER refused');
  store.close();
  expect(await run(id, 'cat file added')).toBe('twonew');
  expect((await client.listCheckpoints({ cell: id })).checkpoints).toEqual([before]);
  const { recovery } = await client.rewind(id, { checkpoint: before.id });
  await client.rewind(id, { checkpoint: recovery?.id as string, recovery: false });
  expect(await run(id, 'cat file added')).toBe('twonew');
});

test('a shell goes on, and a command that runs stops for the moment only', async () => {
  const { id } = await client.create();
  await run(
    id,
    'mkdir inner; cd inner; count=0; (while :; do echo $((count++)) > ../count; done) & echo $! > ../pid',
  );
  const { id: checkpoint } = await client.checkpoint(id);
  await client.rewind(id, { checkpoint });
  expect(
    await run(
      id,
      'pwd; before=$(cat ../count); until [ "$(cat ../count)" != "$before" ]; do :; done; kill $(cat ../pid)',
    ),
  ).toBe('/workspace/inner\n');
});

test('forks begin with the files and share nothing; a checkpoint outlives its cell and the service', async () => {
  const { id } = await client.create({ name: 'first' });
  await run(id, 'printf kept > file');
  await expect(client.fork(id, { count: 2 })).rejects.toMatchObject({ code: 'rate-limited' });
  expect((await client.list()).cells.map((cell) => cell.id)).toEqual([id]);
  expect((await client.listCheckpoints()).checkpoints).toEqual([]);
  const { checkpoint, cells } = await client.fork(id, { labels: { is: 'fork' } });
  expect(cells).toMatchObject([{ state: 'running', labels: { is: 'fork' }, template: 'default' }]);
  const fork = cells[0]?.id as string;
  await run(fork, 'printf changed > file');
  expect(await run(id, 'cat file')).toBe('kept');
  expect((await client.diff(fork, { before: checkpoint.id })).changes).toMatchObject([{ path: 'file' }]);
  await client.remove(id);
  await client.remove(fork);
  await service.close();
  writeFileSync(join(kept, 'left by one that was killed'), '');
  await start();
  client = new ServiceClient({ url, apiKey: key });
  expect(readdirSync(kept)).toEqual([checkpoint.id]);
  const again = await client.create({ checkpoint: checkpoint.id });
  expect(await run(again.id, 'cat file; printf more >> file; cat file')).toBe('keptkeptmore');
  const { id: present } = await client.checkpoint(again.id);
  const { changes } = await client.diff(again.id, { before: checkpoint.id, after: present });
  expect(changes).toMatchObject([{ path: 'file', change: 'changed', beforeBytes: 4, afterBytes: 8 }]);
  await clear();
  await expect(client.create({ checkpoint: checkpoint.id })).rejects.toMatchObject({ code: 'not-found' });
  expect((await client.list()).cells).toEqual([]);
});

test('cells of a template share what was prepared for it, which none of them changes and no checkpoint copies', async () => {
  const { id } = await client.create({ template: 'prepared' });
  await run(id, `ln -s ${prepared} tools; printf x > file`);
  const { checkpoint, cells } = await client.fork(id);
  expect(checkpoint).toMatchObject({ files: 2, bytes: 1 });
  const fork = cells[0]?.id as string;
  expect(await run(fork, 'cat tools/tool; (echo changed > tools/tool) 2>/dev/null || echo " refused"')).toBe(
    'prepared refused\n',
  );
});

test('a service that starts again goes on with the cell', async () => {
  const { id } = await client.create();
  await run(id, 'printf one > file');
  const { id: checkpoint } = await client.checkpoint(id);
  await run(id, 'printf two > file');
  await service.close();
  await start();
  client = new ServiceClient({ url, apiKey: key });
  const { changes } = await client.rewind(id, { checkpoint });
  expect(changes).toMatchObject([{ path: 'file', change: 'changed' }]);
  expect(await run(id, 'cat file')).toBe('one');
});

test('a tenant has so many checkpoints, and so many bytes', async () => {
  const { id } = await client.create();
  const made = [await client.checkpoint(id), await client.checkpoint(id), await client.checkpoint(id)];
  await client.checkpoint(id);
  await expect(client.checkpoint(id)).rejects.toMatchObject({
    code: 'rate-limited',
    details: { limit: 4, of: 'checkpoints' },
  });
  const first = made[0]?.id as string;
  await expect(client.rewind(id, { checkpoint: first })).rejects.toMatchObject({ code: 'rate-limited' });
  await client.rewind(id, { checkpoint: first, recovery: false });
  await client.removeCheckpoint(first);
  await run(id, 'head -c 90000 /dev/urandom > large');
  await client.checkpoint(id);
  await client.removeCheckpoint(made[1]?.id as string);
  await expect(client.checkpoint(id)).rejects.toMatchObject({
    code: 'rate-limited',
    details: { of: 'bytes of checkpoints' },
  });
  expect((await client.listCheckpoints()).checkpoints).toHaveLength(3);
});

test('others and keys of other cells do not reach a checkpoint', async () => {
  const { id } = await client.create();
  const { id: other } = await client.create();
  const { id: checkpoint } = await client.checkpoint(id);
  const others = new ServiceClient({ url, apiKey: (await operator.createKey({ tenant: 'others' })).key });
  const theirs = await others.create();
  const { key: ofOther } = await operator.createKey({ tenant: 'few', cell: other });
  const inOther = new ServiceClient({ url, apiKey: ofOther });
  const none = { code: 'not-found' };
  for (const [asker, cell] of [
    [others, theirs.id],
    [inOther, other],
  ] as const) {
    await expect(asker.getCheckpoint(checkpoint)).rejects.toMatchObject(none);
    await expect(asker.removeCheckpoint(checkpoint)).rejects.toMatchObject(none);
    await expect(asker.rewind(cell, { checkpoint })).rejects.toMatchObject(none);
    await expect(asker.diff(cell, { before: checkpoint })).rejects.toMatchObject(none);
    expect((await asker.listCheckpoints()).checkpoints).toEqual([]);
  }
  await expect(others.create({ checkpoint })).rejects.toMatchObject(none);
  await expect(others.fork(theirs.id, { checkpoint })).rejects.toMatchObject(none);
  await expect(inOther.fork(other)).rejects.toMatchObject({ code: 'denied' });
  const { key: reading } = await operator.createKey({ tenant: 'few', role: 'reader' });
  const reader = new ServiceClient({ url, apiKey: reading });
  expect(await reader.getCheckpoint(checkpoint)).toMatchObject({ id: checkpoint });
  await expect(reader.checkpoint(id)).rejects.toMatchObject({ code: 'denied' });
  await expect(reader.removeCheckpoint(checkpoint)).rejects.toMatchObject({ code: 'denied' });
  await others.remove(theirs.id);
});
