/** Requests that no client of ours would send: refused with 4xx, never 5xx, and the server goes on. */
import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { actionNames } from '../../src/protocol/index.js';
import { authorized, serve, type TestServer, token } from '../cell/server/serve.js';

let served: TestServer;
beforeAll(async () => {
  served = await serve({ limits: { bodyBytes: 1024 * 1024 } });
});
afterAll(() => served[Symbol.asyncDispose]());

const post = (payload: string | Buffer, headers: Record<string, string> = {}) =>
  served.server.app.inject({
    method: 'POST',
    url: '/v1/actions',
    headers: { ...authorized, 'content-type': 'application/json', ...headers },
    payload,
  });

async function expectRefused(payload: string | Buffer, headers: Record<string, string> = {}): Promise<void> {
  const answer = await post(payload, headers);
  const shown = `${answer.statusCode} ${answer.body.slice(0, 200)} for ${String(payload).slice(0, 200)}`;
  expect(answer.statusCode, shown).toBeGreaterThanOrEqual(400);
  expect(answer.statusCode, shown).toBeLessThan(500);
  expect(answer.json(), shown).toMatchObject({
    error: { code: expect.any(String), message: expect.any(String) },
  });
  expect(answer.body, shown).not.toMatch(/\n\s+at |node_modules|\.ts:/);
}

describe('bodies', () => {
  const named: Record<string, string> = {
    empty: '',
    'half an object': '{"action":"run"',
    'not JSON': 'action=run&command=ls',
    'a number': '1e999',
    null: 'null',
    'an array': '[]',
    'nested arrays': '['.repeat(100_000),
    'nested objects': `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`,
    'nested within an action': `{"action":"run","command":${'['.repeat(65)}${']'.repeat(65)}}`,
    __proto__: '{"action":"run","command":"true","__proto__":{"input":true}}',
    '__proto__ within': '{"action":"run","command":"true","env":{"__proto__":{"x":"y"}}}',
    'escaped __proto__': '{"action":"run","command":"true","\\u005f\\u005fproto__":{}}',
    'constructor.prototype': '{"action":"run","command":"true","constructor":{"prototype":{}}}',
    'an inherited name': '{"action":"toString"}',
    'an inherited __proto__ name': '{"action":"__proto__"}',
    'a NUL in the command': '{"action":"run","command":"a\\u0000b"}',
    'a NUL in a path': '{"action":"read","path":"a\\u0000b"}',
    'a path with a lone surrogate': '{"action":"read","path":"\\ud800"}',
    'a path above': '{"action":"read","path":"../../../etc/passwd"}',
    'an absolute path': '{"action":"read","path":"/etc/passwd"}',
    'a path through proc': '{"action":"read","path":"/proc/self/environ"}',
    'a long path': JSON.stringify({ action: 'read', path: 'x/'.repeat(2040) }),
    'a huge name': JSON.stringify({ action: 'read', path: 'x'.repeat(4000) }),
    'huge numbers': '{"action":"run","command":"true","timeoutMs":1e308}',
    'negative numbers': '{"action":"run","command":"true","timeoutMs":-1}',
    'a long body': JSON.stringify({ action: 'write', path: 'x', content: 'x'.repeat(1_100_000) }),
    'an unknown session': '{"action":"run","command":"","session":"never"}',
    'an odd variable': '{"action":"set_env","variables":{"A=B":"c"}}',
  };
  test.each(Object.keys(named))('%s', async (name) => {
    await expectRefused(named[name] ?? '');
  });

  test('other media types and encodings', async () => {
    await expectRefused('<action/>', { 'content-type': 'application/xml' });
    await expectRefused('{}', { 'content-type': 'application/json; charset=utf-16' });
    await expectRefused('{}', { 'content-encoding': 'gzip' });
    await expectRefused(Buffer.from([0xff, 0xfe, 0x7b]));
  });

  test('any JSON', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 6 }), async (json) => expectRefused(json)),
      { numRuns: 300 },
    );
  });

  test('any bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => expectRefused(Buffer.from(bytes))),
      { numRuns: 300 },
    );
  });

  test('any fields of any action get 2xx or 4xx', async () => {
    const harmless = actionNames.filter(
      (name) => !['run', 'start_process', 'watch', 'wait_process'].includes(name),
    );
    const action = fc.record({
      action: fc.constantFrom(...harmless),
      path: fc.oneof(fc.string(), fc.constant('.'), fc.constant('../x')),
      more: fc.dictionary(
        fc.constantFrom('depth', 'limit', 'mode', 'encoding', 'id', 'from', 'to', 'pattern'),
        fc.jsonValue(),
      ),
    });
    await fc.assert(
      fc.asyncProperty(action, async ({ more, ...rest }) => {
        const answer = await post(JSON.stringify({ ...rest, ...more }));
        expect(answer.statusCode, answer.body).toBeLessThan(500);
      }),
      { numRuns: 500 },
    );
  });
});

describe('addresses and headers', () => {
  test('any address', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'PUT', 'DELETE', 'POST'),
        fc.webPath(),
        async (method, path) => {
          const answer = await served.server.app.inject({
            method: method as 'GET',
            url: path || '/',
            headers: authorized,
          });
          expect(answer.statusCode).toBeLessThan(500);
        },
      ),
      { numRuns: 200 },
    );
  });

  test.each([
    [
      'headers that are too long',
      `GET /alive HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`,
      /^HTTP\/1\.1 4(31|13)/,
    ],
    [
      'very many headers',
      `GET /alive HTTP/1.1\r\nHost: localhost\r\n${'A: b\r\n'.repeat(20_000)}\r\n`,
      /^HTTP\/1\.1 431/,
    ],
    ['no HTTP at all', 'hello\r\n\r\n', /^HTTP\/1\.1 400/],
    ['no host', 'GET /alive HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 4/],
    [
      'two lengths',
      'POST /v1/actions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      /^HTTP\/1\.1 400/,
    ],
    [
      'a length and chunks',
      'POST /v1/actions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      /^HTTP\/1\.1 400/,
    ],
    [
      'a negative length',
      'POST /v1/actions HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n',
      /^HTTP\/1\.1 400/,
    ],
    [
      'an upgrade to something else',
      `GET /v1/terminals HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n`,
      /^HTTP\/1\.1 4/,
    ],
  ])('%s', async (_name, text, expected) => {
    const socket = connect(served.port, '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'connect');
    let answer = '';
    socket.setEncoding('latin1');
    socket.on('data', (data: string) => {
      answer += data;
    });
    socket.write(text);
    socket.end();
    await once(socket, 'close');
    expect(answer).toMatch(expected);
  });

  test('a body that never comes does not hold a connection', async () => {
    await using impatient = await serve({ limits: { requestMs: 300 } });
    const socket = connect(impatient.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      `POST /v1/actions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    );
    await once(socket, 'close');
  });

  test('an answer may take longer than a request', async () => {
    await using impatient = await serve({ limits: { requestMs: 100 } });
    const terminal = new WebSocket(`ws://127.0.0.1:${impatient.port}/v1/terminals`, { headers: authorized });
    await once(terminal, 'open');
    terminal.send(JSON.stringify({ type: 'open', argv: ['sh', '-c', 'sleep 0.4; echo late'] }));
    let printed = '';
    terminal.on('message', (data: Buffer, isBinary) => {
      if (isBinary) printed += data.toString();
    });
    const [code] = await once(terminal, 'close');
    expect({ printed, code }).toEqual({ printed: 'late\r\n', code: 1000 });
  });

  test('requests beyond the rate are refused with rate-limited', async () => {
    await using limited = await serve({ limits: { requestsPerSecond: 1, burst: 3 } });
    const ask = () => limited.server.app.inject({ url: '/alive', headers: authorized });
    const answers = await Promise.all(Array.from({ length: 10 }, ask));
    expect(answers.filter(({ statusCode }) => statusCode === 200).length).toBeLessThanOrEqual(4);
    expect(answers.at(-1)?.json()).toMatchObject({ error: { code: 'rate-limited' } });
  });
});

test('after all that the server still works', async () => {
  expect((await post('{"action":"run","command":"echo fine"}')).json()).toMatchObject({ output: 'fine\n' });
  expect(({} as { input?: boolean }).input).toBeUndefined();
});
