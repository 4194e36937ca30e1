/** Neither a server nor a cell can end the owner's process: an error that nobody catches fails these tests. */
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { openGateway, openTcp, openWeb, readAll } from './open-gateway.js';

const plain = 'GET / HTTP/1.1\r\nHost: web.test\r\nConnection: close\r\n\r\n';
const upgrade = 'GET / HTTP/1.1\r\nHost: web.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

/** A server that answers each request with what `answer` gives at the time. */
async function openRaw(answer: () => string) {
  const place = await openTcp((socket) => socket.once('data', () => socket.end(answer(), 'latin1')));
  return openGateway({ allow: ['web.test'], hosts: { 'web.test': place } });
}

test.each([
  [
    'a control character in the reason',
    'HTTP/1.1 200 O\x01K\r\nContent-Length: 2\r\n\r\nhi',
    /^HTTP\/1.1 200 O\?K[\s\S]*hi$/,
  ],
  [
    'a status of 0',
    'HTTP/1.1 000 OK\r\nContent-Length: 2\r\n\r\nhi',
    /^HTTP\/1.1 502 Bad Gateway[\s\S]*status 0/,
  ],
  [
    'a status above all',
    'HTTP/1.1 999 OK\r\nContent-Length: 2\r\n\r\nhi',
    /^HTTP\/1.1 502 Bad Gateway[\s\S]*status 999/,
  ],
])('%s harms no more than its exchange', async (_what, head, expected) => {
  const { say } = await openRaw(() => head);
  expect(await say('web.test', 80, plain)).toMatch(expected);
  expect(await say('web.test', 80, upgrade)).toMatch(expected);
});

test('an upgrade that nobody asked for is no answer', async () => {
  const { say } = await openRaw(() => 'HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
  expect(await say('web.test', 80, plain)).toMatch(/^HTTP\/1.1 502/);
});

test('a server that refuses an upgrade is heard whole', async () => {
  const place = await openWeb((_request, response) => {
    response.statusCode = 426;
    response.write('not ');
    response.end('here');
  });
  const { say } = await openGateway({ allow: ['web.test'], hosts: { 'web.test': place } });
  expect(await say('web.test', 80, upgrade)).toMatch(
    /^HTTP\/1.1 426 [\s\S]*Connection: close\r\n\r\nnot here$/,
  );
});

test.each([
  [
    'an upgrade',
    'GET http://b.test/ HTTP/1.1\r\nHost: b.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  ],
  ['a tunnel', 'CONNECT b.test:443 HTTP/1.1\r\nHost: b.test:443\r\n\r\n'],
])('%s behind a request without an answer ends the connection', async (_what, second) => {
  let asked = () => {};
  const slow = await openTcp((socket) => socket.once('data', () => asked()));
  const refusing = await openWeb((_request, response) => void response.writeHead(400).end());
  const { dial, say } = await openGateway({
    allow: ['a.test', 'b.test'],
    hosts: { 'a.test': slow, 'b.test': refusing },
  });
  const socket = await dial('127.0.0.1', 3128);
  const first = new Promise<void>((resolve) => {
    asked = resolve;
  });
  socket.write('GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n');
  await first;
  socket.write(second);
  expect(await readAll(socket)).toMatch(/^(reset)?$/);
  expect(await say('b.test', 80, 'GET / HTTP/1.1\r\nHost: b.test\r\nConnection: close\r\n\r\n')).toContain(
    '400',
  );
});

test('a tunnel may follow requests that are answered', async () => {
  const place = await openWeb((_request, response) => response.end('answered'));
  const { dial } = await openGateway({ allow: ['a.test'], hosts: { 'a.test': place } });
  const socket = await dial('127.0.0.1', 3128);
  socket.write('GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n');
  await once(socket, 'data');
  socket.write('CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n');
  const [reply] = await once(socket, 'data');
  expect(String(reply)).toContain('200 Connection established');
});

test('no head of an answer ends more than its exchange', async () => {
  const heads = [
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: b\r\n\r\nhi',
    'HTTP/1.1 404 Not\r\nTransfer-Encoding: chunked\r\nTrailer: x\r\n\r\n2\r\nhi\r\n0\r\nx: y\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhi',
    'HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 304 Not Modified\r\nConnection: keep-alive, x\r\n\r\n',
  ];
  const random = seeded(20_261_116);
  let head = '';
  const { say } = await openRaw(() => head);
  for (let index = 0; index < 250; index++) {
    const bytes = Buffer.from(heads[random(heads.length)] as string, 'latin1');
    // Most of what can go wrong does in the status line.
    for (let change = 0; change <= random(3); change++)
      bytes[random(random(2) === 0 ? 20 : bytes.length)] = random(256);
    head = bytes.subarray(0, random(8) === 0 ? random(bytes.length) : bytes.length).toString('latin1');
    await say('web.test', 80, random(2) === 0 ? plain : upgrade);
  }
  head = heads[0] as string;
  expect(await say('web.test', 80, plain)).toMatch(/200 OK[\s\S]*hi$/);
});

/** The same numbers each time, below `limit`. */
function seeded(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}
