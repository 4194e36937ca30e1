/** Hosts whose TLS is opened: which requests pass, and where secrets go. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { parseHost } from '../../../src/protocol/network/host.js';
import { networkRulesSchema } from '../../../src/protocol/network/network-schema.js';
import { RequestPolicy } from '../../../src/runtime/network/opened/request-policy.js';
import { openGateway, openTcp, openWeb, readAll } from './open-gateway.js';

const directory = mkdtempSync(join(tmpdir(), 'opened-'));
const servers: ReturnType<typeof createServer>[] = [];
let secure = '';

/** Answers with what it was asked, as the gateway sent it. */
beforeAll(async () => {
  const args = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const names = ['-subj', '/CN=api.test', '-addext', 'subjectAltName=DNS:api.test,DNS:other.test'];
  execFileSync('openssl', ['req', '-x509', ...args, ...names, '-keyout', 'key', '-out', 'cert'], {
    cwd: directory,
    stdio: 'pipe',
  });
  const [key, cert] = ['key', 'cert'].map((name) => readFileSync(join(directory, name)));
  const server = createServer({ key, cert }, async (request, response) => {
    const { method, url, headers } = request;
    response.end(JSON.stringify({ method, url, headers, body: await text(request) }));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  secure = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  for (const server of servers) server.close();
  rmSync(directory, { recursive: true, force: true });
});

const secrets = [
  { name: 'TOKEN', hosts: ['api.test'], value: async () => 'the real value' },
  { name: 'FORM', hosts: ['api.test'], body: true, value: async () => 'päss&word' },
];

async function openCell(rules: Parameters<typeof openGateway>[0], given = secrets) {
  vi.stubEnv('SSL_CERT_FILE', join(directory, 'cert'));
  const hosts = { 'api.test': secure, 'other.test': secure, ...rules.hosts };
  const opened = await openGateway({ ...rules, hosts }, given);
  const { certificate = '', placeholders = {} } = opened.gateway.opened ?? {};
  /** The answer to one request over TLS, as a program that trusts the cell's authority gets it. */
  const ask = async (name: string, head: string, body = '', ALPNProtocols = ['h2', 'http/1.1']) => {
    const socket = await opened.dial(name, 443);
    const tls = connect({ socket, servername: name, ca: certificate, ALPNProtocols });
    tls.on('error', () => {});
    const [, line = '', rest = ''] = /^(.*?)(?:\n(.*))?$/s.exec(head) ?? [];
    const length = body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
    const fields = `Host: ${name}\r\nConnection: close\r\n${length}${rest}`.trimEnd();
    tls.write(`${line} HTTP/1.1\r\n${fields}\r\n\r\n${body}`);
    const answer = await readAll(tls);
    return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]), answer, json: parse(answer) };
  };
  return { ...opened, ask, token: placeholders.TOKEN ?? '', form: placeholders.FORM ?? '' };
}

function parse(answer: string): Record<string, unknown> {
  const found = /\{.*\}/s.exec(Buffer.from(answer, 'latin1').toString('utf8'))?.[0];
  return found === undefined ? {} : (JSON.parse(found) as Record<string, unknown>);
}

describe('a secret that stays outside', () => {
  test('is put into headers, passwords and where asked bodies, for its hosts', async () => {
    const { ask, token, form, event } = await openCell({ allow: ['api.test'] });
    expect(token).toMatch(/^workcell_secret_[0-9a-f]{32}$/);
    const basic = Buffer.from(`user:${token}`).toString('base64');
    const { json } = await ask(
      'api.test',
      `POST /a\nX-Key: k=${token}\r\nAuthorization: Basic ${basic}`,
      `p=${form}`,
    );
    expect(json).toMatchObject({
      headers: {
        'x-key': 'k=the real value',
        authorization: `Basic ${Buffer.from('user:the real value').toString('base64')}`,
        'content-length': String(Buffer.byteLength('p=päss&word')),
      },
      body: 'p=päss&word',
    });
    const { sentBytes = 0, receivedBytes = 0 } = await event('closed');
    expect(sentBytes).toBeGreaterThan(200);
    expect(receivedBytes).toBeGreaterThan(200);
  });

  test.each([
    ['in a header for another host', 'other.test', (token: string) => `GET /\nX-Key: ${token}`, ''],
    [
      'in a password for another host',
      'other.test',
      (token: string) => `GET /\nAuthorization: Basic ${Buffer.from(`u:${token}`).toString('base64')}`,
      '',
    ],
    ['in an address', 'api.test', (token: string) => `GET /?key=${token}`, ''],
    ['in a body that was not asked for', 'other.test', () => 'POST /', 'TOKEN'],
    ['back to who sent it', 'api.test', (token: string) => `TRACE /\nX-Key: ${token}`, ''],
  ])('is not sent %s', async (_what, name, head, body) => {
    const { ask, token, event } = await openCell({
      allow: ['api.test'],
      requests: [{ host: 'other.test' }],
    });
    const { status, json } = await ask(name, head(token), body.replace('TOKEN', token));
    expect([status, json.error]).toEqual([403, 'refused-by-network-rules']);
    expect(await event('refused')).toMatchObject({
      host: name,
      reason: expect.stringMatching(/TOKEN|TRACE/),
    });
  });

  test('is not sent without TLS, and its placeholder does not leave in pieces either', async () => {
    const seen: string[] = [];
    const web = await openWeb(async (request, response) => {
      seen.push(JSON.stringify(request.headers) + (await text(request).catch(() => '')));
      response.end();
    });
    const { say, dial, token, event } = await openCell({
      allow: ['api.test:443', 'web.test'],
      hosts: { 'web.test': web, 'api.test': web },
    });
    expect(
      await say(
        'api.test',
        443,
        `GET / HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\nX: ${token}\r\n\r\n`,
      ),
    ).toContain('403');
    await event('refused');
    const socket = await dial('web.test', 80);
    const begun = `POST / HTTP/1.1\r\nHost: web.test\r\nContent-Length: ${token.length}\r\n\r\n${token.slice(0, 20)}`;
    socket.write(begun);
    await event('opened');
    socket.write(token.slice(20));
    expect(await readAll(socket)).toMatch(/403|reset|^$/);
    await event('refused');
    expect(seen.join()).not.toContain(token);
    expect(seen.join()).not.toContain('real value');
  });

  test('is not looked for in a body that is compressed: such a request is refused', async () => {
    const { ask, form, token, event } = await openCell({ allow: ['api.test', 'other.test'] });
    for (const encoding of ['gzip', 'deflate, br', 'x-unknown']) {
      const refused = await ask('api.test', `POST /\nContent-Encoding: ${encoding}`, `of ${form}`);
      expect(refused.status).toBe(403);
      expect(await event('refused')).toMatchObject({ reason: expect.stringContaining('compressed') });
    }
    const plain = await ask(
      'api.test',
      `POST /\nX-Token: ${token}\r\nContent-Encoding: identity`,
      `of ${form}`,
    );
    expect(plain.json).toMatchObject({ body: 'of päss&word' });
  });

  test('goes to no server whose certificate this machine does not trust', async () => {
    const { ask, token } = await openCell({ allow: ['api.test'] });
    vi.stubEnv('SSL_CERT_FILE', '');
    const { status, answer } = await ask('api.test', `GET /\nX-Key: ${token}`);
    expect(status).toBe(502);
    expect(answer).toContain('certificate');
  });
});

describe('rules on requests', () => {
  const rules = networkRulesSchema.parse({
    requests: [
      { host: 'api.test', methods: ['GET', 'HEAD'] },
      { host: 'api.test', methods: ['POST'], paths: ['/**/git-upload-pack', '/v1/*/items'] },
    ],
  }).requests;

  test.each([
    ['GET', '/anything/../at//all', true],
    ['POST', '/group/a.git/git-upload-pack', true],
    ['POST', '/v1/7/items?page=2', true],
    ['POST', '/v1/7/8/items', false],
    ['POST', '/group/a.git/git-receive-pack', false],
    ['POST', '/git-receive-pack/../git-upload-pack', false],
    ['POST', '/git-receive-pack%2fgit-upload-pack', false],
    ['POST', '/git-receive-pack;/git-upload-pack', false],
    ['POST', '/%2e%2e/git-upload-pack', false],
    ['POST', '//git-upload-pack', false],
    ['POST', '/git-receive-pack?/git-upload-pack', false],
    ['DELETE', '/v1/7/items', false],
    ['get', '/', false],
  ])('%s %s: %s', (method, path, passes) => {
    const policy = new RequestPolicy(rules);
    const host = parseHost('api.test') as { name: string };
    const refused = policy.refuses(host, 443, { method, path, rawHeaders: [] });
    expect(refused === undefined, refused).toBe(passes);
    const other = parseHost('b.test') as { name: string };
    expect(policy.refuses(other, 443, { method, path, rawHeaders: [] })).toBeUndefined();
  });

  test('hold over TLS, without it, through a proxy and for every request of a connection', async () => {
    const { ask, say, dial } = await openCell({ requests: rules }, []);
    expect((await ask('api.test', 'GET /a')).json).toMatchObject({ method: 'GET', url: '/a' });
    expect((await ask('api.test', 'DELETE /a')).status).toBe(403);
    expect((await ask('api.test', 'GET /a\nX-HTTP-Method-Override: DELETE')).status).toBe(403);
    const put = 'PUT / HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n';
    expect(await say('api.test', 80, put)).toContain('403');
    // What is no HTTP within TLS has no requests to judge, and what is no TLS has none either.
    expect((await ask('api.test', '\x16\x03\x01')).answer).toContain('400');
    expect(await say('api.test', 443, 'EHLO there\r\n')).toMatch(/reset|^$/);
    const proxy = await dial('127.0.0.1', 3128);
    proxy.write('CONNECT api.test:443 HTTP/1.1\r\nHost: api.test:443\r\n\r\n');
    await new Promise((resolve) => proxy.once('data', resolve));
    expect((await ask('api.test', 'GET /a', '', ['h2'])).status).toBeNaN();
  });

  test('hold at an address that is allowed as well', async () => {
    const port = Number(secure.split(':')[1]);
    const { dial, gateway, event } = await openCell({
      allow: [secure],
      requests: [{ host: `api.test:${port}`, methods: ['GET'] }],
    });
    const answerTo = async (method: string) => {
      const socket = await dial('127.0.0.1', port);
      const tls = connect({ socket, servername: 'api.test', ca: gateway.opened?.certificate ?? '' });
      tls.write(`${method} / HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n`);
      return readAll(tls);
    };
    expect(await answerTo('GET')).toContain('200 OK');
    expect(await event('opened')).toMatchObject({ host: 'api.test' });
    expect(await answerTo('DELETE')).toContain('403 Forbidden');
  });

  test('end the connections that nobody read, and need a cell that was started with them', async () => {
    const { gateway, dial } = await openCell({ allow: ['other.test'] });
    const socket = await dial('other.test', 443);
    const tls = connect({ socket, servername: 'other.test', rejectUnauthorized: false });
    tls.on('error', () => {});
    await new Promise((resolve) => tls.once('secureConnect', resolve));
    const ended = new Promise((resolve) => tls.once('close', resolve));
    await gateway.change((before) => ({ ...before, requests: [{ host: 'other.test', methods: ['GET'] }] }));
    await ended;
    const plain = await openCell({ allow: ['other.test'] }, []);
    await expect(plain.gateway.change((before) => ({ ...before, requests: rules }))).rejects.toMatchObject({
      code: 'invalid-config',
    });
  });
});

describe('a TLS handshake that stalls ends in time', () => {
  afterEach(() => void vi.useRealTimers());
  const stop = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });

  /** As OpenSSL writes it. */
  async function realHello(servername: string): Promise<Buffer> {
    let take = (_bytes: Buffer) => {};
    const taken = new Promise<Buffer>((resolve) => {
      take = resolve;
    });
    const place = await openTcp((socket) => socket.once('data', take));
    const client = connect({ host: '127.0.0.1', port: Number(place.split(':')[1]), servername });
    client.on('error', () => {});
    const hello = await taken;
    client.destroy();
    return hello;
  }

  test('of a program that says no more, before the end of its hello and after', async () => {
    const { dial, event } = await openCell({ allow: ['api.test'] });
    const hello = await realHello('api.test');
    stop();
    const [half, whole] = [await dial('api.test', 443), await dial('api.test', 443)];
    const ends = [half, whole].map(readAll);
    half.write(hello.subarray(0, 20));
    const answered = once(whole, 'data');
    whole.write(hello);
    // Both were taken by now, in their order.
    await answered;
    await vi.advanceTimersByTimeAsync(10_000);
    await Promise.all(ends);
    expect(await event('failed')).toMatchObject({
      host: 'api.test',
      reason: expect.stringContaining('too long'),
    });
  });

  test('of a server that never answers', async () => {
    const silent = await openTcp(() => {});
    const { ask, event } = await openCell({ allow: ['api.test'], hosts: { 'api.test': silent } });
    stop();
    const answer = ask('api.test', 'GET /');
    await event('opened');
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await answer).status).toBe(502);
  });
});

test('a server that was reached before is reached by the session that it gave, one that is new by none', async () => {
  const reused: boolean[] = [];
  const onConnection = (socket: TLSSocket) => void reused.push(socket.isSessionReused());
  servers[0]?.on('secureConnection', onConnection);
  const { ask } = await openCell({ requests: [{ host: 'api.test' }, { host: 'other.test' }] });
  for (const name of ['api.test', 'api.test', 'other.test'])
    expect((await ask(name, 'GET /')).status).toBe(200);
  servers[0]?.off('secureConnection', onConnection);
  expect(reused).toEqual([false, true, false]);
});

test('connections that were opened do not count when they are over', async () => {
  const { ask } = await openCell({ requests: [{ host: 'api.test' }], limits: { connections: 1 } });
  for (let index = 0; index < 3; index++) {
    const { status } = await ask('api.test', 'GET /');
    // The end of the one before may still be on its way.
    if (status !== 200) index--;
  }
});

test('the certificates stand up to a strict reader', async () => {
  const { gateway } = await openCell({ requests: [{ host: 'api.test' }] });
  const file = join(directory, 'authority.pem');
  writeFileSync(file, gateway.opened?.certificate ?? '');
  const shown = execFileSync('openssl', ['x509', '-in', file, '-noout', '-text'], { encoding: 'utf8' });
  expect(shown).toContain('CA:TRUE');
  expect(
    execFileSync('openssl', ['verify', '-x509_strict', '-CAfile', file, file], { encoding: 'utf8' }),
  ).toContain('OK');
});
