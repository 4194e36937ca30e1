/** Snapshots and forks through the published client: whose they are, what they begin with, and what they may reach. */
import { RateLimitError, Sandbox, SandboxError } from 'e2b';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServiceClient } from '../../../src/client/index.js';
import { type E2bService, startE2bService } from './e2b-service.js';

const secretValue = 'a-secret-of-the-template';
const settings = `max_checkpoints_per_tenant = 4
[service.templates.open]
options = { network = "open", env = { HOLDS = "${secretValue}" } }
[secrets.TEMPLATE_KEY]
env = "E2B_TEST_SECRET"
reach = "env"
`;

let service: E2bService;
let operator: ServiceClient;
let connection: E2bService['connection'];
let sandbox: Sandbox;

const connectionOf = async (tenant: string) => {
  const { key } = await operator.createKey({ tenant, role: 'user' });
  return { ...service.connection, apiKey: key };
};

beforeAll(async () => {
  process.env.E2B_TEST_SECRET = secretValue;
  service = await startE2bService(settings);
  operator = new ServiceClient({ url: service.url, apiKey: service.connection.apiKey });
  connection = await connectionOf('mine');
  sandbox = await Sandbox.create('open', { ...connection, envs: { OWN: 'yes' }, metadata: { a: 'b' } });
});
afterAll(async () => {
  delete process.env.E2B_TEST_SECRET;
  await service.close();
});

test('a snapshot outlives its sandbox, and has the files of its moment', async () => {
  const first = await Sandbox.create(connection);
  await first.files.write('a.txt', 'one');
  const going = await first.commands.run('sleep 1000', { background: true });
  const { snapshotId } = await first.createSnapshot();
  // The sandbox goes on.
  expect((await first.commands.list()).map(({ pid }) => pid)).toContain(going.pid);
  await first.files.write('a.txt', 'two');
  await first.kill();
  const second = await Sandbox.create(snapshotId, { ...connection, envs: { NEW: 'yes' } });
  expect(await second.files.read('a.txt')).toBe('one');
  expect((await second.commands.run('echo $NEW')).stdout).toBe('yes\n');
  expect(await Sandbox.deleteSnapshot(snapshotId, connection)).toBe(true);
  expect(await second.files.read('a.txt')).toBe('one');
  await expect(Sandbox.create(snapshotId, connection)).rejects.toMatchObject({ statusCode: 404 });
  await second.kill();
});

test('a name is that of the newest snapshot, and never one of a template', async () => {
  await sandbox.files.write('b.txt', 'old');
  await sandbox.createSnapshot({ name: 'work:v1' });
  await sandbox.files.write('b.txt', 'new');
  const { snapshotId } = await sandbox.createSnapshot({ name: 'work:v1' });
  const named = await Sandbox.listSnapshots({ ...connection, name: 'work:v1' }).nextItems();
  expect(named).toEqual([{ snapshotId, names: ['work:v1'] }]);
  const begun = await Sandbox.create('work:v1', connection);
  expect(await begun.files.read('b.txt')).toBe('new');
  await begun.kill();
  for (const name of ['base', 'open:v1', 'not a name'])
    await expect(sandbox.createSnapshot({ name })).rejects.toMatchObject({ statusCode: 400 });
  expect(await Sandbox.deleteSnapshot('work:v1', connection)).toBe(true);
});

test('the list comes in pages', async () => {
  const made = [await sandbox.createSnapshot(), await sandbox.createSnapshot()];
  const pages = Sandbox.listSnapshots({ ...connection, limit: 1 });
  expect([await pages.nextItems(), await pages.nextItems(), pages.hasNext]).toEqual([
    [made[1]],
    [made[0]],
    false,
  ]);
  for (const { snapshotId } of made) await Sandbox.deleteSnapshot(snapshotId, connection);
});

test('another tenant neither sees, uses, removes nor makes them', async () => {
  const others = await connectionOf('others');
  const { snapshotId } = await sandbox.createSnapshot({ name: 'secret' });
  expect(await Sandbox.listSnapshots(others).nextItems()).toEqual([]);
  for (const id of [snapshotId, 'secret']) {
    await expect(Sandbox.create(id, others)).rejects.toMatchObject({ statusCode: 404 });
    expect(await Sandbox.deleteSnapshot(id, others)).toBe(false);
  }
  const { sandboxId } = sandbox;
  await expect(Sandbox.createSnapshot(sandboxId, others)).rejects.toMatchObject({
    name: 'SandboxNotFoundError',
  });
  await expect(Sandbox.fork(sandboxId, others)).rejects.toMatchObject({ name: 'SandboxNotFoundError' });
  expect(await Sandbox.deleteSnapshot(snapshotId, connection)).toBe(true);
});

test('forks have the files, the variables and the metadata of their source, and tokens of their own', async () => {
  await sandbox.files.write('c.txt', 'shared');
  const forks = await sandbox.fork({ count: 2, timeoutMs: 60_000 });
  expect(new Set(forks.map((fork) => (fork as Sandbox).sandboxId)).size).toBe(2);
  for (const fork of forks) {
    if (fork instanceof Error) throw fork;
    expect(fork.trafficAccessToken).not.toBe(sandbox.trafficAccessToken);
    expect(await fork.files.read('c.txt')).toBe('shared');
    expect((await fork.commands.run('echo $OWN')).stdout).toBe('yes\n');
    // That of the template, and not what the service shows of it.
    const length = (await fork.commands.run('echo ${#HOLDS}')).stdout;
    expect(Number(length)).toBe(secretValue.length);
    expect(await fork.getInfo()).toMatchObject({ metadata: { a: 'b' } });
    await fork.files.write('c.txt', 'its own');
    expect(await fork.kill()).toBe(true);
  }
  expect(await sandbox.files.read('c.txt')).toBe('shared');
  // What they began with is no snapshot.
  const native = new ServiceClient({ url: service.url, apiKey: connection.apiKey });
  expect(await native.listCheckpoints()).toMatchObject({ checkpoints: [] });
  expect(await Sandbox.listSnapshots(connection).nextItems()).toEqual([]);
});

test('a fork reaches no more than its source does now', async () => {
  const native = new ServiceClient({ url: service.url, apiKey: connection.apiKey });
  const make = (network: object) => Sandbox.create('open', { ...connection, ...network });
  const closed = await make({ allowInternetAccess: false });
  const narrowed = await make({ network: { denyOut: ['192.0.2.0/24'] } });
  await narrowed.updateNetwork({ allowInternetAccess: false });
  const ruled = await make({ network: { allowOut: ['example.com'], denyOut: ['0.0.0.0/0'] } });
  // A gateway would answer in the place of the other side.
  const told: string[] = [];
  for (const source of [closed, narrowed, ruled]) {
    const [fork] = (await source.fork()) as Sandbox[];
    told.push((await fork?.commands.run('curl -s http://other.test || true'))?.stdout ?? 'no fork');
    if (source !== ruled) expect(await fork?.getInfo()).toMatchObject({ allowInternetAccess: false });
    // The API of the service knows the template only, which reaches more.
    await expect(native.fork(source.sandboxId)).rejects.toMatchObject({ code: 'capability-unsupported' });
    await fork?.kill();
    await source.kill();
  }
  expect(told).toEqual(['', '', expect.stringContaining('no rule allows this host')]);
});

test('a key for one sandbox has the snapshots of that one', async () => {
  const native = new ServiceClient({ url: service.url, apiKey: connection.apiKey });
  const other = await Sandbox.create(connection);
  const { key } = await operator.createKey({ tenant: 'mine', role: 'user', cell: other.sandboxId });
  const narrow = { ...connection, apiKey: key };
  const { snapshotId } = await sandbox.createSnapshot({ name: 'taken' });
  expect(await Sandbox.listSnapshots(narrow).nextItems()).toEqual([]);
  expect(await Sandbox.deleteSnapshot(snapshotId, narrow)).toBe(false);
  const unnamed = await sandbox.createSnapshot();
  const ids = (await native.listCheckpoints()).checkpoints.map(({ id }) => id);
  // With their tag or without: the next sandbox of the tenant would begin with what this key wants.
  for (const name of ['taken', 'taken:default', ...ids, ...ids.map((id) => `${id}:default`)])
    await expect(Sandbox.createSnapshot(other.sandboxId, { ...narrow, name })).rejects.toMatchObject({
      statusCode: 409,
    });
  for (const name of ids)
    await expect(sandbox.createSnapshot({ name })).rejects.toMatchObject({ statusCode: 409 });
  expect(await Sandbox.deleteSnapshot(unnamed.snapshotId, connection)).toBe(true);
  for (const refused of [Sandbox.fork(other.sandboxId, narrow), Sandbox.create(snapshotId, narrow)])
    await expect(refused).rejects.toBeInstanceOf(SandboxError);
  const own = await Sandbox.createSnapshot(other.sandboxId, narrow);
  expect(await Sandbox.deleteSnapshot(own.snapshotId, narrow)).toBe(true);
  expect(await Sandbox.deleteSnapshot(snapshotId, connection)).toBe(true);
  expect(await native.listCheckpoints()).toMatchObject({ checkpoints: [] });
  await other.kill();
});

test('a paused sandbox is neither kept nor forked, and a tenant has so many snapshots', async () => {
  await sandbox.pause();
  for (const refused of [sandbox.createSnapshot(), sandbox.fork()])
    await expect(refused).rejects.toBeInstanceOf(SandboxError);
  await sandbox.connect();
  const made = [];
  for (let at = 0; at < 4; at++) made.push((await sandbox.createSnapshot()).snapshotId);
  for (const refused of [sandbox.createSnapshot(), sandbox.fork()])
    await expect(refused).rejects.toBeInstanceOf(RateLimitError);
  for (const id of made) await Sandbox.deleteSnapshot(id, connection);
});
