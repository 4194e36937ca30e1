/** The published clients of E2B on containers: each of their methods, and what depends on where a cell is. */
import { CommandExitError, FileNotFoundError, Sandbox, SandboxError, TimeoutError } from 'e2b';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dockerEngine, images } from '../../engines/docker.js';
import { type E2bService, startE2bService } from './e2b-service.js';
import { surfaceSuite } from './surface-suite.js';

let service: E2bService;
let sandbox: Sandbox;

const start = async () => {
  const { host } = await dockerEngine();
  const options = `{ engine = "${host}", image = "${images.tools}" }`;
  return startE2bService(`[service.templates.default]\noptions = ${options}\n`, 'docker');
};

beforeAll(async () => {
  service = await start();
  sandbox = await Sandbox.create({ ...service.connection, metadata: { at: 'docker' } });
}, 600_000);
afterAll(() => service?.close());

test('commands and terminals', async () => {
  const { commands, pty } = sandbox;
  const said = await commands.run('echo out $OWN; echo err >&2; pwd', { envs: { OWN: 'yes' } });
  expect(said).toMatchObject({ exitCode: 0, stdout: 'out yes\n/workspace\n', stderr: 'err\n' });
  await expect(commands.run('exit 3')).rejects.toBeInstanceOf(CommandExitError);
  await expect(commands.run('sleep 1000', { timeoutMs: 300 })).rejects.toBeInstanceOf(TimeoutError);
  const cat = await commands.run('cat', { background: true, stdin: true });
  await commands.sendStdin(cat.pid, 'one\n');
  await commands.closeStdin(cat.pid);
  expect(await cat.wait()).toMatchObject({ stdout: 'one\n' });
  let text = '';
  const terminal = await pty.create({
    cols: 80,
    rows: 24,
    onData: (data) => {
      text += Buffer.from(data).toString();
    },
  });
  await pty.resize(terminal.pid, { cols: 120, rows: 50 });
  await pty.sendInput(terminal.pid, Buffer.from('stty size; exit 4\n'));
  await expect(terminal.wait()).rejects.toMatchObject({ exitCode: 4 });
  expect(text).toContain('50 120');
});

test('files, and what tells of their changes', async () => {
  const { files } = sandbox;
  // A terminal leaves its history in the workspace.
  await files.makeDir('folder');
  const seen = new Promise<string>((resolve) => {
    void files
      .watchDir('folder', ({ name }) => resolve(name), { timeoutMs: 0 })
      .then(() => files.write('folder/a.txt', 'a'));
  });
  expect(await seen).toBe('a.txt');
  expect(await files.read('folder/a.txt')).toBe('a');
  expect(await files.list('folder')).toMatchObject([{ name: 'a.txt', path: '/workspace/folder/a.txt' }]);
  expect(await (await fetch(await sandbox.downloadUrl('folder/a.txt'))).text()).toBe('a');
  await files.remove('folder/a.txt');
  await expect(files.read('folder/a.txt')).rejects.toBeInstanceOf(FileNotFoundError);
});

test('a port inside', async () => {
  const server = `python3 -u -m http.server 3000 --bind 127.0.0.1`;
  const ready = new Promise((resolve) => {
    void sandbox.commands.run(server, { background: true, onStdout: resolve, timeoutMs: 0 });
  });
  await ready;
  await sandbox.files.write('page.txt', 'inside');
  const headers = { 'e2b-sandbox-id': sandbox.sandboxId, 'e2b-sandbox-port': '3000' };
  const token = { 'e2b-traffic-access-token': sandbox.trafficAccessToken ?? '' };
  expect((await fetch(`${service.url}/page.txt`, { headers })).status).toBe(403);
  const answer = await fetch(`${service.url}/page.txt`, { headers: { ...headers, ...token } });
  expect(await answer.text()).toBe('inside');
});

test('a pause keeps processes, and an end leaves nothing', async () => {
  const process = await sandbox.commands.run('sleep 1000', { background: true, timeoutMs: 0 });
  expect(await sandbox.pause()).toBe(true);
  expect(await sandbox.isRunning()).toBe(false);
  await expect(sandbox.commands.run('true')).rejects.toBeInstanceOf(SandboxError);
  const again = await Sandbox.connect(sandbox.sandboxId, service.connection);
  expect((await again.commands.list()).map(({ pid }) => pid)).toContain(process.pid);
  const [metric] = await again.getMetrics();
  expect(metric).toMatchObject({ memUsed: expect.any(Number) });
  expect(await again.kill()).toBe(true);
  expect(await Sandbox.list(service.connection).nextItems()).toEqual([]);
});

test('a network can be none, and has no rules where a cell outlives its gateway', async () => {
  const none = await Sandbox.create({ ...service.connection, allowInternetAccess: false });
  expect(await none.getInfo()).toMatchObject({ allowInternetAccess: false });
  await expect(none.updateNetwork({ allowOut: ['example.com'] })).rejects.toBeInstanceOf(SandboxError);
  expect(await none.kill()).toBe(true);
});

describe('every method', () => surfaceSuite(start));
