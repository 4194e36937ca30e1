import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { loadBackend } from '../../src/backends/index.js';
import { loadPlugins } from '../../src/cell/plugins/load-plugins.js';
import { createRuntime } from '../../src/index.js';
import { protocolVersion } from '../../src/protocol/index.js';
import { eventually, refusal } from '../../src/testing/contract/given.js';
import { serve, type TestServer, token } from '../cell/server/serve.js';
import { contractSuite } from '../contract/suite.js';

for (const over of ['tcp', 'unix'] as const) {
  describe(`over ${over}`, () => {
    let served: TestServer;

    // Each test meets a server of its own, as files and shells stay in it.
    beforeEach(async () => {
      served = await serve({ over, plugins: await loadPlugins() });
    });
    afterEach(() => served[Symbol.asyncDispose]());

    contractSuite(`remote, ${over}`, () => ({ backend: 'remote', url: served.url, token }), {
      traits: over === 'tcp' ? ['limited-tree'] : ['limited-tree', 'checkpoints'],
    });
  });
}

describe('a server that cannot be used', () => {
  const open = (url: string, more: { token?: string; tokenFile?: string; ca?: string } = { token }) =>
    createRuntime({ backend: 'remote', url, ...more });

  test('nothing listens there', async () => {
    const served = await serve();
    await served[Symbol.asyncDispose]();
    const started = performance.now();
    expect((await refusal(open(served.url), 'runtime-disconnected')).message).toContain(
      'refuses the connection',
    );
    expect(performance.now() - started).toBeLessThan(2000);
    expect((await refusal(open('unix:/nowhere/socket'), 'runtime-disconnected')).message).toContain(
      'is gone',
    );
    expect((await refusal(open('http://no-such-host.invalid:1'), 'runtime-disconnected')).message).toMatch(
      /cannot be found|reached/,
    );
  });

  test('no message shows a password in its address', async () => {
    const { probe } = await loadBackend('remote');
    expect((await probe({ url: 'http://me:secret-word@example.com:8700/' })).summary).toContain(
      'the server at http://example.com:8700/;',
    );
    await using served = await serve();
    const url = served.url.replace('://', '://me:secret-word@');
    for (const [place, code] of [
      [url, 'unauthorized'],
      [`${url}?token=secret-word`, 'invalid-config'],
    ] as const) {
      const { message, details } = await refusal(open(place, { token: 'wrong' }), code);
      expect(`${message} ${JSON.stringify(details)}`).not.toContain('secret-word');
    }
  });

  test('the token is wrong, missing, or its file is', async () => {
    await using served = await serve();
    await refusal(open(served.url, { token: 'wrong' }), 'unauthorized');
    await refusal(open(served.url, {}), 'unauthorized');
    await refusal(open(served.url, { tokenFile: '/nowhere/token' }), 'invalid-config');
  });

  test('others can write the file with the token or the certificates', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'token-'));
    const file = join(folder, 'given');
    writeFileSync(file, token);
    chmodSync(file, 0o666);
    for (const more of [{ tokenFile: file }, { token, ca: file }]) {
      const { message } = await refusal(open('https://127.0.0.1:1', more), 'invalid-config');
      expect(message).toContain('can be written by other users');
    }
    rmSync(folder, { recursive: true });
  });

  test('the token comes from a file', async () => {
    await using served = await serve();
    const file = join(mkdtempSync(join(tmpdir(), 'token-')), 'token');
    writeFileSync(file, `${token}\n`, { mode: 0o600 });
    await using runtime = await open(served.url, { tokenFile: file });
    expect(runtime.status).toBe('READY');
  });

  test('the address is none', async () => {
    for (const url of ['nonsense', 'ftp://localhost', 'http://localhost/?query'])
      await refusal(open(url), 'invalid-config');
  });

  test('it speaks another version', async () => {
    await using fake = await pretend({ '/v1/info': { ...info, protocolVersion: protocolVersion + 1 } });
    expect((await refusal(open(fake.url), 'version-mismatch')).message).toContain(`${protocolVersion + 1}`);
  });

  test('it is something else', async () => {
    await using fake = await pretend({ '/v1/info': { hello: 'world' } });
    await refusal(open(fake.url), 'version-mismatch');
    await using other = await pretend({});
    await refusal(open(other.url), 'internal');
  });

  test('it is a web site, leads elsewhere, or speaks no HTTP, and is not asked again', async () => {
    let asked = 0;
    const answers: ((socket: Socket) => void)[] = [
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n<html></html>'),
      (socket) => socket.end('HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n'),
      (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'),
    ];
    for (const answer of answers) {
      asked = 0;
      const server = createTcpServer((socket) => {
        asked++;
        socket.on('error', () => {}).once('data', () => answer(socket));
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const error = await refusal(open(`http://127.0.0.1:${port}`), 'version-mismatch');
      expect(error.message).toContain('not a Workcell executor');
      expect(asked).toBe(1);
      server.close();
    }
  });

  test('it takes the connection and says nothing', async () => {
    const sockets: Socket[] = [];
    const server = createTcpServer((socket) => sockets.push(socket.on('error', () => {}))).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const error = await refusal(open(`http://127.0.0.1:${port}`), 'runtime-disconnected');
    expect(error.message).toContain('did not say what it is within 10 s');
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  test('it is not ready, and says why', async () => {
    const capabilities = [{ name: 'shell', state: 'unavailable', reason: 'No bash was found.' }];
    await using fake = await pretend({ '/v1/info': info, '/ready': { ready: false, capabilities } });
    expect((await refusal(open(fake.url), 'backend-unavailable')).message).toContain('No bash was found.');
  });

  test('it claims an isolation that does not exist', async () => {
    await using fake = await pretend({ '/v1/info': { ...info, isolation: { tier: 'perfect', facts: [] } } });
    await refusal(open(fake.url), 'version-mismatch');
  });

  test('it answers actions with something else', async () => {
    const ready = { '/v1/info': info, '/ready': { ready: true, capabilities: [] } };
    const answers = [
      'nonsense\n',
      '{"observation":{"observation":"read"}}\n',
      '7\n',
      '{"progress":{"type":"magic"}}\n',
      '{"error":7}\n',
    ];
    for (const answer of answers) {
      await using fake = await pretend({ ...ready, '/v1/actions': answer });
      const runtime = await open(fake.url);
      const outcome = runtime.run('true', { onOutput: () => {} });
      await refusal(outcome, 'internal');
      await runtime.close();
    }
  });

  test('it takes an action and is silent from then on', async () => {
    const ready = { '/v1/info': info, '/ready': { ready: true, capabilities: [] } };
    await using fake = await pretend({ ...ready, '/v1/actions': null, '/alive': null });
    await using runtime = await open(fake.url);
    const actions = [
      runtime.run('true', { timeoutMs: 1 }),
      runtime.execute({ action: 'wait_process', id: 'x', timeoutMs: 1 }),
    ];
    for (const action of actions)
      expect((await refusal(action, 'timed-out')).message).toContain('1000 ms later');
  });
});

describe('over TLS', () => {
  let folder: string;
  let served: TestServer;
  let port: number;
  let tls: ReturnType<typeof createTlsServer>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tls-'));
    const options =
      '-x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost';
    execFileSync(
      'openssl',
      ['req', ...options.split(' '), '-keyout', join(folder, 'key'), '-out', join(folder, 'cert')],
      { stdio: 'ignore' },
    );
    served = await serve();
    tls = createTlsServer(
      { key: readFileSync(join(folder, 'key')), cert: readFileSync(join(folder, 'cert')) },
      (near) => {
        const far = connect(served.port, '127.0.0.1');
        near.pipe(far).pipe(near);
        for (const socket of [near, far]) socket.on('error', () => {});
      },
    );
    tls.on('tlsClientError', () => {});
    tls.listen(0, '127.0.0.1');
    await once(tls, 'listening');
    port = (tls.address() as AddressInfo).port;
  });
  afterAll(async () => {
    tls.close();
    await served[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  test('a certificate that is vouched for works, terminals included', async () => {
    await using runtime = await createRuntime({
      backend: 'remote',
      url: `https://localhost:${port}`,
      token,
      ca: join(folder, 'cert'),
    });
    expect((await runtime.run('echo secure')).output).toBe('secure\n');
    const terminal = await runtime.terminals.open({ argv: ['true'] });
    expect(await terminal.exited).toEqual({ exitCode: 0, signal: null });
    await terminal.close();
  });

  test.each([
    ['nobody vouches for', () => ({ url: `https://localhost:${port}` })],
    ['is for another name', () => ({ url: `https://127.0.0.1:${port}`, ca: join(folder, 'cert') })],
    ['is not there at all', () => ({ url: `https://127.0.0.1:${served.port}` })],
  ])('a certificate that %s is reported as trouble with TLS', async (_what, options) => {
    const error = await refusal(
      createRuntime({ backend: 'remote', token, ...options() }),
      'runtime-disconnected',
    );
    expect(error.message).toContain('cannot be trusted');
    expect(error.message).not.toContain('\n');
  });
});

test('with onClose: leave, shells and files stay for the next client', async () => {
  await using served = await serve();
  const first = await createRuntime({ backend: 'remote', url: served.url, token, onClose: 'leave' });
  await first.run('kept=here');
  await first.close();
  await using second = await createRuntime({ backend: 'remote', url: served.url, token });
  expect((await second.run('echo $kept')).output).toBe('here\n');
});

test('closing ends what runs and leaves the server', async () => {
  await using served = await serve();
  const first = await createRuntime({ backend: 'remote', url: served.url, token });
  await first.write('note', 'x');
  await first.run('gone=here');
  await first.close();
  await using second = await createRuntime({ backend: 'remote', url: served.url, token });
  expect((await second.run('echo "${gone-nothing}"; cat note')).output).toBe('nothing\nx');
  expect(existsSync(join(served.workspace, 'note'))).toBe(true);
});

test('closing ends what this client started, and nothing of others', async () => {
  await using served = await serve();
  const open = () => createRuntime({ backend: 'remote', url: served.url, token });
  const first = await open();
  await first.run('mkfifo gate');
  const surviving = first.run('touch began; read answer < gate; echo "$answer"', { session: 'shared' });
  const kept = await first.processes.start(['sleep', '1000']);
  await eventually(() => existsSync(join(served.workspace, 'began')));

  const second = await open();
  await refusal(second.run('echo second', { session: 'shared' }), 'session-busy');
  await second.run('true', { session: 'own' });
  const ended = await second.processes.start(['sleep', '1000']);
  const terminal = await second.terminals.open({ argv: ['sleep', '1000'] });
  await second.close();
  await terminal.exited;

  const { sessions } = await first.execute({ action: 'list_sessions' });
  expect(sessions.map(({ session }) => session)).not.toContain('own');
  const { processes } = await first.execute({ action: 'list_processes' });
  const running = processes.filter(({ running }) => running).map(({ id }) => id);
  expect([running.includes(kept.id), running.includes(ended.id)]).toEqual([true, false]);
  await first.run('echo survived > gate');
  expect((await surviving).output).toBe('survived\n');
  await first.close();
});

const info = {
  protocolVersion,
  version: '0.0.0',
  id: 'fake',
  instance: 'fake',
  workspace: '/',
  isolation: { tier: 'none', facts: [] },
};

/** A server that answers some paths with fixed content, those with `null` never, and others with 404. */
async function pretend(answers: Record<string, unknown>): Promise<{ url: string } & AsyncDisposable> {
  const listener: RequestListener = (request, response) => {
    const answer = answers[(request.url ?? '').split('?')[0] ?? ''];
    if (answer === null) return;
    response.statusCode = answer === undefined ? 404 : 200;
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer ?? 'nothing here'));
  };
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
