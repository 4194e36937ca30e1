/** The published client of E2B, unmodified, against our service: each of its methods that a sandbox has. */

import { connect } from 'node:net';
import {
  AuthenticationError,
  CommandExitError,
  FileNotFoundError,
  FilesystemEventType,
  FileType,
  InvalidArgumentError,
  NotFoundError,
  Sandbox,
  SandboxError,
  SandboxNotFoundError,
  Template,
  TimeoutError,
} from 'e2b';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type E2bService, startE2bService } from './e2b-service.js';

let service: E2bService;
let sandbox: Sandbox;

beforeAll(async () => {
  service = await startE2bService('[service.templates.wide]\noptions = { network = "open" }\n');
  sandbox = await Sandbox.create({
    ...service.connection,
    metadata: { user: 'a b' },
    envs: { GIVEN: 'yes' },
  });
});
afterAll(async () => {
  await sandbox.kill();
  await service.close();
});

/** Settles with the first value that comes, and counts no others. */
function signal<Value>(): { arrived: Promise<Value>; tell: (value: Value) => void } {
  let tell: (value: Value) => void = () => {};
  const arrived = new Promise<Value>((resolve) => {
    tell = resolve;
  });
  return { arrived, tell };
}

describe('commands', () => {
  test('run with their output, variables and exit codes', async () => {
    const heard: string[] = [];
    const result = await sandbox.commands.run(
      'echo out $GIVEN $OWN; echo err >&2; pwd; echo $E2B_SANDBOX_ID',
      {
        envs: { OWN: 'too' },
        onStdout: (text) => void heard.push(text),
      },
    );
    const stdout = `out yes too\n/workspace\n${sandbox.sandboxId}\n`;
    expect(result).toMatchObject({ exitCode: 0, stdout, stderr: 'err\n' });
    expect(heard.join('')).toBe(stdout);
    const failed = sandbox.commands.run('echo before; exit 3');
    await expect(failed).rejects.toBeInstanceOf(CommandExitError);
    await expect(failed).rejects.toMatchObject({ exitCode: 3, stdout: 'before\n' });
  });

  test('a large output with letters of several bytes arrives whole', async () => {
    const { stdout } = await sandbox.commands.run(`for i in {1..20000}; do printf 'ä€😀%s\\n' $i; done`);
    expect(stdout.split('\n')[19_999]).toBe('ä€😀20000');
    expect(stdout).not.toContain('\uFFFD');
  });

  test('go on in the background, take input, and are connected to and killed by their id', async () => {
    const line = signal<string>();
    const cat = await sandbox.commands.run('cat', { background: true, stdin: true, onStdout: line.tell });
    expect(await sandbox.commands.list()).toMatchObject([
      { pid: cat.pid, cmd: '/bin/bash', args: ['-l', '-c', 'cat'] },
    ]);
    await sandbox.commands.sendStdin(cat.pid, 'one\n');
    expect(await line.arrived).toBe('one\n');
    await cat.disconnect();
    const again = signal<string>();
    const connected = await sandbox.commands.connect(cat.pid, { onStdout: again.tell });
    await connected.sendStdin('two\n');
    expect(await again.arrived).toBe('two\n');
    await sandbox.commands.closeStdin(cat.pid);
    expect(await connected.wait()).toMatchObject({ exitCode: 0 });
    const sleeping = await sandbox.commands.run('sleep 1000', { background: true });
    expect(await sandbox.commands.kill(sleeping.pid)).toBe(true);
    await expect(sleeping.wait()).rejects.toMatchObject({ exitCode: -1, error: 'signal: killed' });
    expect(await sandbox.commands.kill(sleeping.pid)).toBe(false);
    await expect(sandbox.commands.connect(4_000_000)).rejects.toBeInstanceOf(NotFoundError);
  });

  test('end with the limit of their caller, and fail with the class that says why', async () => {
    await expect(sandbox.commands.run('sleep 1000', { timeoutMs: 300 })).rejects.toBeInstanceOf(TimeoutError);
    await expect(sandbox.commands.run('true', { cwd: '/not/there' })).rejects.toBeInstanceOf(
      InvalidArgumentError,
    );
    await expect(sandbox.commands.run('true', { user: 'root' })).rejects.toBeInstanceOf(AuthenticationError);
    const { stdout } = await sandbox.commands.run('echo $0', { user: 'user', cwd: '~' });
    expect(stdout).toBe('/bin/bash\n');
  });
});

test('terminals open, take input, change their size and end', async () => {
  let text = '';
  const size = signal<void>();
  const terminal = await sandbox.pty.create({
    cols: 80,
    rows: 24,
    timeoutMs: 0,
    onData: (data) => {
      text += Buffer.from(data).toString();
      if (/size=50 120/.test(text)) size.tell();
    },
  });
  await sandbox.pty.resize(terminal.pid, { cols: 120, rows: 50 });
  await sandbox.pty.sendInput(terminal.pid, Buffer.from('echo "size=$(stty size)"\n'));
  await size.arrived;
  const second = signal<Uint8Array>();
  const connected = await sandbox.pty.connect(terminal.pid, { onData: second.tell });
  await sandbox.pty.sendInput(terminal.pid, Buffer.from('\n'));
  await second.arrived;
  expect(await sandbox.pty.kill(terminal.pid)).toBe(true);
  await expect(connected.wait()).rejects.toBeInstanceOf(CommandExitError);
  expect(await sandbox.pty.kill(terminal.pid)).toBe(false);
});

describe('files', () => {
  test('are written, read, listed, renamed and removed', async () => {
    const { files } = sandbox;
    const written = await files.write('folder/hello.txt', 'hello', { metadata: { origin: 'test' } });
    expect(written).toMatchObject({ name: 'hello.txt', path: '/workspace/folder/hello.txt' });
    expect(await files.read('folder/hello.txt')).toBe('hello');
    expect(Buffer.from(await files.read('~/folder/hello.txt', { format: 'bytes' })).toString()).toBe('hello');
    expect(await (await files.read('/workspace/folder/hello.txt', { format: 'blob' })).text()).toBe('hello');
    const stream = await files.read('folder/hello.txt', { format: 'stream' });
    expect(await new Response(stream).text()).toBe('hello');
    expect(await files.getInfo('folder/hello.txt')).toMatchObject({
      name: 'hello.txt',
      type: FileType.FILE,
      size: 5,
      mode: 0o644,
      permissions: '-rw-r--r--',
      metadata: { origin: 'test' },
    });
    await files.write([
      { path: 'folder/a.txt', data: 'a' },
      { path: 'folder/deep/b.txt', data: new Blob(['b']) },
    ]);
    await files.writeFiles([{ path: 'folder/empty', data: '' }]);
    expect(await files.read('folder/empty')).toBe('');
    await sandbox.commands.run('ln -s a.txt folder/link');
    const listed = await files.list('folder', { depth: 2 });
    expect(listed.map(({ name, type }) => [name, type])).toEqual([
      ['a.txt', FileType.FILE],
      ['deep', FileType.DIR],
      ['b.txt', FileType.FILE],
      ['empty', FileType.FILE],
      ['hello.txt', FileType.FILE],
      ['link', FileType.FILE],
    ]);
    expect(listed.at(-1)).toMatchObject({ symlinkTarget: '/workspace/folder/a.txt' });
    expect(await files.makeDir('folder/new/er')).toBe(true);
    expect(await files.makeDir('folder/new/er')).toBe(false);
    expect(await files.rename('folder/hello.txt', 'other/place.txt')).toMatchObject({
      path: '/workspace/other/place.txt',
      metadata: { origin: 'test' },
    });
    expect(await files.exists('folder/hello.txt')).toBe(false);
    await files.remove('folder');
    await files.remove('folder');
    expect(await files.exists('folder')).toBe(false);
  });

  test('failures have the classes that say why', async () => {
    const { files } = sandbox;
    await expect(files.read('missing')).rejects.toBeInstanceOf(FileNotFoundError);
    await expect(files.read('/workspace')).rejects.toBeInstanceOf(InvalidArgumentError);
    await expect(files.list('missing')).rejects.toBeInstanceOf(FileNotFoundError);
    await files.write('plain', 'x');
    await expect(files.list('plain')).rejects.toBeInstanceOf(InvalidArgumentError);
    await expect(files.makeDir('plain')).rejects.toBeInstanceOf(InvalidArgumentError);
    await expect(files.rename('missing', 'x')).rejects.toBeInstanceOf(FileNotFoundError);
    await expect(files.watchDir('missing', () => {})).rejects.toBeInstanceOf(FileNotFoundError);
    await expect(files.read('~someone/x')).rejects.toBeInstanceOf(InvalidArgumentError);
  });

  test('streams and packed bodies are written as they are', async () => {
    const bytes = Buffer.from([0, 255, 10, 13, 128]);
    const body = new Blob([bytes]).stream();
    await sandbox.files.write('raw.bin', body, { useOctetStream: true });
    expect(Buffer.from(await sandbox.files.read('raw.bin', { format: 'bytes' }))).toEqual(bytes);
    await sandbox.files.write('packed.txt', 'again '.repeat(1000), { gzip: true });
    expect(await sandbox.files.read('packed.txt')).toHaveLength(6000);
  });

  test('a watch tells of what is created, changed and removed', async () => {
    await sandbox.files.makeDir('watched/deep');
    const created = signal<unknown>();
    const removed = signal<unknown>();
    const handle = await sandbox.files.watchDir(
      'watched',
      ({ name, type, entry }) => {
        if (type === FilesystemEventType.CREATE && name === 'deep/new.txt') created.tell(entry?.path);
        if (type === FilesystemEventType.REMOVE && name === 'deep/new.txt') removed.tell(name);
      },
      { recursive: true, includeEntry: true, timeoutMs: 0 },
    );
    await sandbox.files.write('watched/deep/new.txt', 'x');
    expect(await created.arrived).toBe('/workspace/watched/deep/new.txt');
    await sandbox.files.remove('watched/deep/new.txt');
    expect(await removed.arrived).toBe('deep/new.txt');
    await handle.stop();
  });

  test('a signed address opens one file of one sandbox, and until its end only', async () => {
    await sandbox.files.write('signed.txt', 'for all');
    const url = await sandbox.downloadUrl('signed.txt', { useSignatureExpiration: 60 });
    expect(await (await fetch(url)).text()).toBe('for all');
    expect(await (await fetch(url, { headers: { range: 'bytes=4-6' } })).text()).toBe('all');
    expect((await fetch(url.replace('signed.txt', 'plain'))).status).toBe(401);
    expect(
      (await fetch(await sandbox.downloadUrl('signed.txt', { useSignatureExpiration: -60 }))).status,
    ).toBe(401);
    const form = new FormData();
    form.append('file', new Blob(['uploaded']), 'ignored');
    const target = await sandbox.uploadUrl('up.txt');
    expect((await fetch(target, { method: 'POST', body: form })).status).toBe(200);
    expect(await sandbox.files.read('up.txt')).toBe('uploaded');
  });
});

test('git works through commands', async () => {
  const { git } = sandbox;
  await git.init('repository', { initialBranch: 'main' });
  await git.configureUser('An Agent', 'agent@example.com');
  await sandbox.files.write('repository/a.txt', 'a');
  await git.add('repository');
  await git.commit('repository', 'first');
  await git.createBranch('repository', 'other');
  expect(await git.branches('repository')).toMatchObject({
    branches: ['main', 'other'],
    currentBranch: 'other',
  });
  expect(await git.status('repository')).toMatchObject({ currentBranch: 'other', isClean: true });
});

describe('sandboxes', () => {
  test('are told of, listed by their metadata in pages, and measured', async () => {
    const info = await sandbox.getInfo();
    expect(info).toMatchObject({ sandboxId: sandbox.sandboxId, templateId: 'base', state: 'running' });
    expect(info).toMatchObject({ metadata: { user: 'a b' }, lifecycle: { onTimeout: 'kill' } });
    const other = await Sandbox.create('base', { ...service.connection, metadata: { user: 'c' } });
    const found = Sandbox.list({ ...service.connection, query: { metadata: { user: 'a b' } } });
    expect(await found.nextItems()).toMatchObject([{ sandboxId: sandbox.sandboxId }]);
    const pages = Sandbox.list({ ...service.connection, limit: 1 });
    expect(await pages.nextItems()).toMatchObject([{ sandboxId: other.sandboxId }]);
    expect(pages.hasNext).toBe(true);
    expect(await pages.nextItems()).toMatchObject([{ sandboxId: sandbox.sandboxId }]);
    expect(pages.hasNext).toBe(false);
    const [metric] = await other.getMetrics();
    expect(metric).toMatchObject({ memUsed: expect.any(Number), cpuCount: expect.any(Number) });
    expect(await Sandbox.listSnapshots(service.connection).nextItems()).toEqual([]);
    expect(await Sandbox.deleteSnapshot('none', service.connection)).toBe(false);
    expect(await Template.exists('base', service.connection)).toBe(true);
    expect(await Template.exists('missing', service.connection)).toBe(false);
    expect(await Sandbox.kill(other.sandboxId, service.connection)).toBe(true);
  });

  test('a paused one is not running, keeps its processes, and goes on when connected to', async () => {
    const other = await Sandbox.create({ ...service.connection, lifecycle: { onTimeout: 'pause' } });
    const process = await other.commands.run('sleep 1000', { background: true });
    expect(await other.pause()).toBe(true);
    expect(await other.pause()).toBe(false);
    expect(await other.isRunning()).toBe(false);
    await expect(other.commands.run('true')).rejects.toBeInstanceOf(SandboxError);
    const paused = Sandbox.list({ ...service.connection, query: { state: ['paused'] } });
    expect(await paused.nextItems()).toMatchObject([{ sandboxId: other.sandboxId, state: 'paused' }]);
    const again = await Sandbox.connect(other.sandboxId, service.connection);
    expect(await again.commands.list()).toMatchObject([{ pid: process.pid }]);
    await expect(other.pause({ keepMemory: false })).rejects.toBeInstanceOf(SandboxError);
    await again.kill();
  });

  test('the end of its time pauses one that is made for that, and kills others', async () => {
    const pausing = await Sandbox.create({ ...service.connection, lifecycle: { onTimeout: 'pause' } });
    const ending = await Sandbox.create(service.connection);
    const before = await ending.getInfo();
    await ending.setTimeout(3_600_000);
    expect((await ending.getInfo()).endAt.getTime()).toBeGreaterThan(before.endAt.getTime());
    // To connect never takes time away.
    await ending.connect({ timeoutMs: 1000 });
    expect((await ending.getInfo()).endAt.getTime()).toBeGreaterThan(before.endAt.getTime());
    const cut = ending.commands.run('sleep 1000', { timeoutMs: 0 });
    const isCut = expect(cut).rejects.toBeInstanceOf(TimeoutError);
    await Promise.all([pausing.setTimeout(1000), ending.setTimeout(1000)]);
    await isCut;
    await expect.poll(() => pausing.getInfo(), { timeout: 30_000 }).toMatchObject({ state: 'paused' });
    await expect(ending.getInfo()).rejects.toBeInstanceOf(SandboxNotFoundError);
    await expect(ending.setTimeout(1000)).rejects.toBeInstanceOf(SandboxNotFoundError);
    expect(await pausing.kill()).toBe(true);
  });

  test('a killed one is gone, and its streams are cut', async () => {
    const other = await Sandbox.create(service.connection);
    expect(await other.isRunning()).toBe(true);
    const running = await other.commands.run('sleep 1000', { background: true, timeoutMs: 0 });
    const isCut = expect(running.wait()).rejects.toBeInstanceOf(TimeoutError);
    expect(await other.kill()).toBe(true);
    await isCut;
    expect(await other.isRunning()).toBe(false);
    expect(await other.kill()).toBe(false);
    await expect(Sandbox.connect(other.sandboxId, service.connection)).rejects.toBeInstanceOf(
      SandboxNotFoundError,
    );
  });

  test('a network can be narrowed, and never widened', async () => {
    const none = await Sandbox.create('wide', { ...service.connection, allowInternetAccess: false });
    expect(await none.getInfo()).toMatchObject({ allowInternetAccess: false });
    const { stdout } = await none.commands.run("awk 'NR > 2 { print $1 }' /proc/net/dev");
    expect(stdout).toBe('lo:\n');
    await expect(none.updateNetwork({ allowOut: [] })).rejects.toBeInstanceOf(SandboxError);
    await none.kill();
    const rules = { allowOut: ['example.com'], denyOut: ['0.0.0.0/0'] };
    const ruled = await Sandbox.create('wide', { ...service.connection, network: rules });
    const refused = await ruled.commands.run('curl -s http://other.test');
    expect(refused.stdout).toContain('no rule allows this host');
    await ruled.updateNetwork({ allowOut: ['other.example.com'], denyOut: ['0.0.0.0/0'] });
    await expect(ruled.updateNetwork({ allowOut: ['example.com'] })).rejects.toBeInstanceOf(SandboxError);
    await ruled.kill();
    const unruled = Sandbox.create({ ...service.connection, network: rules });
    await expect(unruled).rejects.toMatchObject({ message: expect.stringContaining('is not open') });
    const wider = Sandbox.create({ ...service.connection, allowInternetAccess: true });
    await expect(wider).rejects.toMatchObject({ message: expect.stringContaining('has no network') });
  });

  test('what is refused has the class that says why', async () => {
    const { connection } = service;
    await expect(Sandbox.create({ ...connection, apiKey: 'wrong' })).rejects.toBeInstanceOf(
      AuthenticationError,
    );
    await expect(Sandbox.create('missing', connection)).rejects.toBeInstanceOf(SandboxError);
    const wrong = new Headers({ 'e2b-sandbox-id': sandbox.sandboxId, 'x-access-token': 'wrong' });
    wrong.set('content-type', 'application/json');
    const refused = await fetch(`${service.url}/process.Process/List`, {
      method: 'POST',
      headers: wrong,
      body: '{}',
    });
    expect(refused.status).toBe(401);
  });
});

test('a port inside is reached by who has the token of the sandbox', async () => {
  const ready = signal<string>();
  const server = `require('http').createServer((q, s) => s.end(q.method + ' ' + q.url)).listen(3000, () => console.log('up'))`;
  const running = await sandbox.commands.run(`node -e "${server}"`, {
    background: true,
    onStdout: ready.tell,
    timeoutMs: 0,
  });
  await ready.arrived;
  const headers = { 'e2b-sandbox-id': sandbox.sandboxId, 'e2b-sandbox-port': '3000' };
  const token = { 'e2b-traffic-access-token': sandbox.trafficAccessToken ?? '' };
  expect((await fetch(`${service.url}/a?b`, { headers })).status).toBe(403);
  const answer = await fetch(`${service.url}/a?b`, {
    headers: { ...headers, ...token },
    method: 'POST',
    body: 'x',
  });
  expect(await answer.text()).toBe('POST /a?b');
  const closed = await fetch(service.url, { headers: { ...headers, ...token, 'e2b-sandbox-port': '3001' } });
  expect(await closed.json()).toMatchObject({ code: 502, port: 3001 });
  await running.kill();
});

test('a port that answers what HTTP does not allow is answered 502, and the service goes on', async () => {
  const ready = signal<string>();
  // The second answers an ordinary request with a change of protocol, and holds the connection.
  const server = `
const { createServer } = require('net');
createServer((s) => s.end('HTTP/1.1 099 Odd\\r\\n\\r\\n')).listen(3002, () =>
  createServer((s) => s.write('HTTP/1.1 101 Switching\\r\\nconnection: upgrade\\r\\nupgrade: websocket\\r\\n\\r\\n')).listen(3003, () => console.log('up')))`;
  await sandbox.files.write('odd.cjs', server);
  const running = await sandbox.commands.run('node odd.cjs', {
    background: true,
    onStdout: ready.tell,
    timeoutMs: 0,
  });
  await ready.arrived;
  for (const port of [3002, 3003]) {
    const answer = await fetch(service.url, {
      headers: {
        'e2b-sandbox-id': sandbox.sandboxId,
        'e2b-sandbox-port': String(port),
        'e2b-traffic-access-token': sandbox.trafficAccessToken ?? '',
      },
    });
    expect(answer.status).toBe(502);
  }
  expect(await sandbox.isRunning()).toBe(true);
  await running.kill();
});

test('a body that is not what it says is refused, also where nobody reads it', async () => {
  const { sandboxId } = sandbox;
  const { envdAccessToken = '' } = sandbox as unknown as { envdAccessToken?: string };
  for (const path of ['~bad', 'good.txt']) {
    const refused = await fetch(`${service.url}/files?path=${path}`, {
      method: 'POST',
      headers: {
        'e2b-sandbox-id': sandboxId,
        'e2b-sandbox-port': '49983',
        'x-access-token': envdAccessToken,
        'content-type': 'application/octet-stream',
        'content-encoding': 'gzip',
      },
      body: 'not packed at all',
    });
    expect(refused.status).toBe(400);
  }
  expect(await sandbox.isRunning()).toBe(true);
});

test('what a sandbox wrote cannot act as a page of the service', async () => {
  await sandbox.files.write('page.html', '<script>top.location = "/"</script>');
  const page = await fetch(await sandbox.downloadUrl('page.html', { useSignatureExpiration: 60_000 }));
  expect(page.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
});

test('a part of a file is read by itself', async () => {
  await sandbox.files.write('parts.txt', '0123456789');
  const url = await sandbox.downloadUrl('parts.txt', { useSignatureExpiration: 60_000 });
  const part = await fetch(url, { headers: { range: 'bytes=2-4' } });
  expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([
    206,
    'bytes 2-4/10',
    '234',
  ]);
  expect((await fetch(url, { headers: { range: 'bytes=50-' } })).status).toBe(416);
});

test('an end that its client has not taken yet meets no sign of life', async () => {
  const { envdAccessToken = '' } = sandbox as unknown as { envdAccessToken?: string };
  const call = (command: string) => {
    const text = JSON.stringify({ process: { cmd: '/bin/sh', args: ['-c', command] } });
    const head = Buffer.alloc(5);
    head.writeUInt32BE(Buffer.byteLength(text), 1);
    const lines = [
      'POST /process.Process/Start HTTP/1.1',
      'host: 127.0.0.1',
      `e2b-sandbox-id: ${sandbox.sandboxId}`,
      'e2b-sandbox-port: 49983',
      `x-access-token: ${envdAccessToken}`,
      'content-type: application/connect+json',
      'connect-protocol-version: 1',
      'keepalive-ping-interval: 1',
      `content-length: ${5 + Buffer.byteLength(text)}`,
      '',
      '',
    ];
    return Buffer.concat([Buffer.from(lines.join('\r\n')), head, Buffer.from(text)]);
  };
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  // The second answer has no connection until the first one has ended, and is over long before.
  socket.write(Buffer.concat([call('mkfifo gate; cat gate'), call('true')]));
  const keepalives = new Promise<void>((resolve) => {
    let text = '';
    socket.on('data', (data) => {
      text += data;
      if (text.split('keepalive').length > 3) resolve();
    });
  });
  await keepalives;
  await sandbox.commands.run('echo > gate');
  expect(await sandbox.isRunning()).toBe(true);
  socket.destroy();
});
