/** Programs of ComputeSDK, with its real package, in cells. */
import { compute, type ExplicitComputeConfig } from 'computesdk';
import { afterEach, expect, test, vi } from 'vitest';
import { type ComputeSdkSandbox, computeSdkProvider } from '../../src/adapters/computesdk.js';
import type { CreateRuntimeOptions } from '../../src/index.js';

const options: CreateRuntimeOptions = { config: false, backend: 'cli', events: { store: 'memory' } };
const provider = computeSdkProvider({ ...options, env: { OWN: '1', WORD: 'own' } });
const sandboxes = compute({ provider } satisfies ExplicitComputeConfig).sandbox;

afterEach(async () => {
  vi.useRealTimers();
  for (const each of await sandboxes.list()) await each.destroy();
});

test('commands run on their own, with their output apart, variables and a directory', async () => {
  const sandbox = await sandboxes.create({ envs: { WORD: 'asked' } });
  await sandbox.filesystem.mkdir('sub');
  const seen: string[] = [];
  const ran = await sandbox.runCommand('echo "$OWN $WORD $MORE"; pwd; echo err >&2; exit 3', {
    cwd: 'sub',
    env: { MORE: 'more' },
    onStdout: (text) => seen.push(text),
  });
  expect(ran).toMatchObject({ stderr: 'err\n', exitCode: 3, durationMs: expect.any(Number) });
  expect(ran.stdout).toMatch(/^1 asked more\n.*\/sub\n$/);
  expect(seen.join('')).toBe(ran.stdout);
  expect(await sandbox.runCommand('sleep 60', { timeout: 50 })).toMatchObject({ exitCode: 124 });
  expect(await sandbox.runCommand('kill -SEGV $$')).toMatchObject({ exitCode: 139 });
});

test('files are written, listed, read and removed', async () => {
  const { filesystem, runCommand } = await sandboxes.create();
  expect(runCommand).toBeTypeOf('function');
  await filesystem.writeFile('a/text', 'é\n');
  expect(await filesystem.readFile('a/text')).toBe('é\n');
  expect(await filesystem.readdir('a')).toMatchObject([{ name: 'text', type: 'file', size: 3 }]);
  expect(await filesystem.exists('a')).toBe(true);
  await filesystem.remove('a');
  expect(await filesystem.exists('a')).toBe(false);
});

test('a file that is no text is not mistaken for one', async () => {
  const sandbox = await sandboxes.create();
  await sandbox.runCommand("printf '\\377' > bytes");
  await expect(sandbox.filesystem.readFile('bytes')).rejects.toMatchObject({ code: 'invalid-action' });
});

test('a server in the background is reached at an address of this machine', async () => {
  const sandbox = await sandboxes.create();
  const server = `const server = require('node:http').createServer((_, answer) => answer.end('hi'));
server.listen(0, '127.0.0.1', () => require('node:fs').writeFileSync('port', String(server.address().port)));`;
  await sandbox.filesystem.writeFile('server.cjs', server);
  await sandbox.runCommand('mkfifo port');
  const started = await sandbox.runCommand('exec node server.cjs', { background: true });
  expect(started).toMatchObject({ stdout: '', exitCode: 0 });
  const { stdout: port } = await sandbox.runCommand('cat port');
  const url = await sandbox.getUrl({ port: Number(port) });
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(await (await fetch(url)).text()).toBe('hi');
  expect(await sandbox.getUrl({ port: Number(port) })).toBe(url);
});

test('sandboxes are found by their ids, described, and gone once destroyed', async () => {
  const sandbox = await sandboxes.create({ metadata: { mine: true } });
  expect(await sandboxes.getById(sandbox.sandboxId)).toBe(sandbox);
  expect((await sandboxes.list()).map(({ sandboxId }) => sandboxId)).toEqual([sandbox.sandboxId]);
  expect(await sandbox.getInfo()).toMatchObject({
    id: sandbox.sandboxId,
    provider: 'workcell',
    status: 'running',
    metadata: { mine: true, backend: 'cli', isolation: 'none' },
  });
  await sandboxes.destroy(sandbox.sandboxId);
  expect(await sandbox.getInfo()).toMatchObject({ status: 'stopped' });
  expect(await sandboxes.getById(sandbox.sandboxId)).toBeNull();
  await expect(sandboxes.destroy(sandbox.sandboxId)).rejects.toThrow('There is no sandbox');
});

test('a sandbox ends when its time is over', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const sandbox = await sandboxes.create({ timeout: 5000 });
  vi.advanceTimersByTime(5000);
  vi.useRealTimers();
  await vi.waitFor(async () => expect(await sandboxes.list()).toEqual([]), 30_000);
  expect((await sandbox.getInfo()).status).toBe('stopped');
});

test('a sandbox whose end fails is still found', async () => {
  const sandbox = await sandboxes.create();
  const { sandboxId: id } = sandbox;
  const close = vi
    .spyOn((sandbox as unknown as ComputeSdkSandbox).getInstance(), 'close')
    .mockRejectedValueOnce(new Error('no'));
  await expect(sandboxes.destroy(id)).rejects.toThrow('no');
  expect(await sandboxes.getById(id)).toBe(sandbox);
  await sandboxes.destroy(id);
  expect(close).toHaveBeenCalledTimes(2);
  expect(await sandboxes.list()).toEqual([]);
});

test('what nobody gives is refused by name, and a function can give it', async () => {
  await expect(sandboxes.create({ image: 'debian:bookworm' })).rejects.toThrow('"image" was asked for');
  const asked = vi.fn(() => options);
  const chosen = compute({ provider: computeSdkProvider(asked) }).sandbox;
  const sandbox = await chosen.create({ image: 'debian:bookworm', memory: 512 });
  expect(asked).toHaveBeenCalledWith({ image: 'debian:bookworm', memory: 512 });
  await sandbox.destroy();
});
