/** Servers that take more for a request than HTTP says must not be asked past the rules. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { looksLikeHttp } from '../../../src/runtime/network/request-line.js';
import { openGateway, openTcp, readAll } from './open-gateway.js';

/** Python's server. `hosts`: what it was asked for. */
async function openPython(): Promise<{ place: string; port: number; hosts: string[] }> {
  const program = fileURLToPath(new URL('../../fixtures/lenient-http.py', import.meta.url));
  const child = spawn('python3', [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await once(child, 'close');
  });
  const lines = createInterface({ input: child.stdout });
  const [port] = await once(lines, 'line');
  const hosts: string[] = [];
  lines.on('line', (line) => hosts.push(line));
  return { place: `127.0.0.1:${port}`, port: Number(port), hosts };
}

test('a first line that never ends is told apart in one pass', () => {
  // Going back over it for each of its bytes would take seconds each time.
  for (let time = 0; time < 30; time++)
    for (const byte of [' ', '\r', '\n', 'a ', 'GET ', ' HTTP/'])
      expect(looksLikeHttp(Buffer.from(`${byte.repeat(65_536 / byte.length - 1)}\0\0\0\0\0\0`))).toBe(false);
});

const rest = '\r\nHost: evil.test\r\nConnection: close\r\n\r\n';
const answered: readonly (readonly [string, string])[] = [
  ['another version', 'GET / HTTP/1.2'],
  ['two spaces', 'GET  / HTTP/1.1'],
  ['a tab', 'GET\t/ HTTP/1.1'],
  ['a separator that only Python knows', 'GET\x1c/\x85HTTP/1.1'],
  ['a space at the end', 'GET / HTTP/1.1 '],
  ['a space in front', ' GET / HTTP/1.1'],
  ['a long path', `GET /${'a'.repeat(8300)} HTTP/1.1`],
  ['a method in small letters', 'get / HTTP/1.1'],
  ['an underscore', 'A_B / HTTP/1.1'],
  ['a method of no letters', '\x01 / HTTP/1.1'],
  ['a target without a slash', 'GET a HTTP/1.1'],
  ['a carriage return between words', 'GET\r/\rHTTP/1.1'],
];

test.each(answered)('a request with %s comes to no other host', async (_what, line) => {
  const { place, port, hosts } = await openPython();
  const bytes = Buffer.from(line + rest, 'latin1');
  const straight = connect(port, '127.0.0.1', () => straight.write(bytes));
  expect(await readAll(straight)).toContain('asked for evil.test');
  hosts.length = 0;
  const { say, event } = await openGateway({ allow: ['web.test:8080'], hosts: { 'web.test': place } });
  expect(await say('web.test', 8080, bytes)).not.toContain('asked for');
  await event('refused');
  const usual = `GET /${'a'.repeat(8300)} HTTP/1.1\r\nHost: web.test:8080\r\nConnection: close\r\n\r\n`;
  expect(await say('web.test', 8080, usual)).toContain('asked for web.test:8080');
  expect(hosts).toEqual(['asked for web.test:8080']);
});

test('a request in pieces comes to no other host, and what only begins like one passes', async () => {
  let seen = '';
  const place = await openTcp((socket) =>
    socket.on('data', (bytes) => {
      seen += bytes.toString('latin1');
      socket.write(bytes);
    }),
  );
  const { dial, event } = await openGateway({ allow: ['web.test:7'], hosts: { 'web.test': place } });
  const bad = await dial('web.test', 7);
  bad.write('get');
  await once(bad, 'data');
  bad.write(` / HTTP/1.1${rest}`);
  await readAll(bad);
  expect(seen).toBe('get');
  expect(await event('refused')).toMatchObject({ host: 'web.test', port: 7 });
  const good = await dial('web.test', 7);
  for (const piece of ['get', ' the-key\r\n', `GET / HTTP/1.1${rest}`]) {
    good.write(piece);
    expect(String((await once(good, 'data'))[0])).toBe(piece);
  }
});

test('after a denial of a name, no such request goes on at an address that is allowed', async () => {
  const place = await openTcp((socket) => socket.on('data', (bytes) => socket.write(bytes)));
  const port = Number(place.split(':')[1]);
  const { gateway, dial } = await openGateway({ allow: [place] });
  const begun = async (...pieces: string[]) => {
    const socket = await dial('127.0.0.1', port);
    for (const piece of pieces) {
      socket.write(piece);
      await once(socket, 'data');
    }
    return socket;
  };
  const [whole, pieces, other] = [
    await begun(`get  / HTTP/1.2${rest}`),
    await begun('get', ` / HTTP/1.1${rest}`),
    await begun('hello\n'),
  ];
  const ended = Promise.all([readAll(whole), readAll(pieces)]);
  await gateway.change((rules) => ({ ...rules, deny: ['evil.test'] }));
  await ended;
  other.write('still there');
  expect(String((await once(other, 'data'))[0])).toBe('still there');
});

describe('the first line', () => {
  test.each([
    ['of another version', 'get / what\r\n'],
    ['without a version', 'GET /\r\n'],
    ['with a whole address', 'GET http://evil.test/\n'],
    ['that a carriage return ends', 'a a HTTP/1.1\rHost: evil.test\r\r'],
    ['of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['behind that of a load balancer', 'PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\nGET / HTTP/1.1\r\n'],
    ['behind the bytes of a load balancer', '\r\n\r\n\0\r\nQUIT\n!'],
    ['behind empty lines', `${'\r\n'.repeat(200)}x y HTTP/1.1\r\n`],
    ['with an endless method', 'A'.repeat(70_000)],
    ['with an endless target', `x a://evil.test/${'a'.repeat(70_000)}`],
    ['that only may begin', ' '.repeat(70_000)],
  ])('%s can be a request', (_what, text) => {
    expect(looksLikeHttp(Buffer.from(text, 'latin1'))).toBe(true);
  });

  test.each([
    ['SSH', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['Redis', '*1\r\n$4\r\nPING\r\n'],
    ['memcached', 'get the-key\r\n'],
    ['NATS', 'CONNECT {"verbose":false}\r\n'],
    ['STOMP', 'CONNECT\naccept-version:1.2\nhost:web.test\n\n\0'],
    ['git', '0032git-upload-pack /project.git\0host=web.test\0'],
    ['RTSP', 'OPTIONS rtsp://web.test/ RTSP/1.0\r\n'],
    ['syslog', '<13>1 - web app - - - "GET / HTTP/1.1" 200 12\n'],
    ['PostgreSQL', '\0\0\0\x08\x04\xd2\x16\x2f'],
    ['AMQP', 'AMQP\0\0\x09\x01'],
    ['long binary data', `\0${'a'.repeat(70_000)}`],
    ['long JSON', `{"a":"${'b c'.repeat(30_000)}"}`],
  ])('of %s is no request', (_what, text) => {
    expect(looksLikeHttp(Buffer.from(text, 'latin1'))).toBe(false);
  });
});
