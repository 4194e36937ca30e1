/** A limit on the bytes in a second, by a clock of the test's own: only it goes on while nothing else does. */
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openGateway, openTcp, openWeb } from './open-gateway.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const perSecond = 64 * 1024;
const seconds = 20;
/** In lines: one that never ends could become a request of HTTP. */
const body = Buffer.alloc(perSecond * seconds, 'a\0b\n');
/** The second that passes at once, and what other streams take before they are held, do not wait. */
const least = (seconds - 5) * 1000;
const limits = { bytesPerSecond: perSecond };

/** Lets the clock go on where nothing comes, until as many have come; returns how long that took by the clock. */
async function elapsed(count: () => number, goal: number): Promise<number> {
  const begun = performance.now();
  while (count() < goal) {
    const before = count();
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    if (count() === before) await vi.advanceTimersByTimeAsync(50);
  }
  return performance.now() - begun;
}

function counted(socket: Socket): () => number {
  let bytes = 0;
  socket.on('data', (chunk) => {
    bytes += chunk.length;
  });
  return () => bytes;
}

describe('takes its time', () => {
  test('an answer', async () => {
    const place = await openWeb((_request, response) => response.end(body));
    const { dial, event } = await openGateway({ allow: ['web.test'], hosts: { 'web.test': place }, limits });
    const socket = await dial('web.test', 80);
    const received = counted(socket);
    socket.write('GET / HTTP/1.1\r\nHost: web.test\r\n\r\n');
    await event('opened');
    expect(await elapsed(received, body.length)).toBeGreaterThanOrEqual(least);
  });

  test('a body', async () => {
    let sent = 0;
    const place = await openWeb((request) => {
      request.on('data', (chunk: Buffer) => {
        sent += chunk.length;
      });
    });
    const { dial, event } = await openGateway({ allow: ['web.test'], hosts: { 'web.test': place }, limits });
    const socket = await dial('web.test', 80);
    socket.write(`POST / HTTP/1.1\r\nHost: web.test\r\nContent-Length: ${body.length}\r\n\r\n`);
    socket.write(body);
    await event('opened');
    expect(await elapsed(() => sent, body.length)).toBeGreaterThanOrEqual(least);
  });

  test('what passes by all connections together, whatever it is', async () => {
    let sent = 0;
    const place = await openTcp((socket) => {
      socket.write('greeting');
      socket.on('data', (chunk) => {
        sent += chunk.length;
      });
    });
    const { dial, event } = await openGateway({
      allow: ['web.test:22,2222'],
      hosts: { 'web.test': place },
      limits,
    });
    const sockets = [await dial('web.test', 22), await dial('web.test', 2222)];
    for (const socket of sockets) socket.write(body.subarray(body.length / 2));
    for (const _socket of sockets) await event('opened');
    expect(await elapsed(() => sent, body.length)).toBeGreaterThanOrEqual(least);
  });

  test('a row of connections that send and end', async () => {
    let sent = 0;
    const place = await openTcp((socket) => {
      socket.on('data', (chunk) => {
        sent += chunk.length;
      });
      socket.once('end', () => socket.end());
    });
    const { dial, event } = await openGateway({
      allow: ['web.test:22'],
      hosts: { 'web.test': place },
      limits,
    });
    const begun = performance.now();
    for (let goal = perSecond; goal <= body.length; goal += perSecond) {
      const socket = await dial('web.test', 22);
      socket.end(body.subarray(0, perSecond));
      await event('opened');
      await elapsed(() => sent, goal);
    }
    expect(performance.now() - begun).toBeGreaterThanOrEqual(least);
  });

  test('a row of connections that listen', async () => {
    const place = await openTcp((socket) => socket.end(body.subarray(0, perSecond)));
    const { dial } = await openGateway({ allow: ['web.test:22'], hosts: { 'web.test': place }, limits });
    const begun = performance.now();
    for (let index = 0; index < seconds; index++) {
      const socket = await dial('web.test', 22);
      await elapsed(counted(socket), perSecond);
      socket.end();
    }
    expect(performance.now() - begun).toBeGreaterThanOrEqual(least);
  });

  test('a row of upgrades that send with them', async () => {
    let sent = 0;
    const place = await openTcp((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
        socket.on('data', (chunk) => {
          sent += chunk.length;
        });
      });
    });
    const { dial } = await openGateway({ allow: ['web.test'], hosts: { 'web.test': place }, limits });
    const head = 'GET / HTTP/1.1\r\nHost: web.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    const bytes = Buffer.concat([Buffer.from(head), body.subarray(0, perSecond - head.length)]);
    const begun = performance.now();
    for (let index = 1; index <= seconds; index++) {
      const socket = await dial('web.test', 80);
      socket.write(bytes);
      await elapsed(() => sent, index * (perSecond - head.length));
      socket.destroy();
    }
    expect(performance.now() - begun).toBeGreaterThanOrEqual(least);
  });

  test('a row of requests without bodies', async () => {
    let requests = 0;
    const place = await openWeb((_request, response) => {
      requests++;
      response.end();
    });
    const { dial } = await openGateway({ allow: ['web.test'], hosts: { 'web.test': place }, limits });
    const socket = await dial('web.test', 80);
    const head = `GET /${'x'.repeat(15_000)} HTTP/1.1\r\nHost: web.test\r\n\r\n`;
    let asked = 0;
    const ask = () => {
      asked++;
      socket.write(head);
    };
    const count = Math.floor(body.length / head.length);
    socket.on('data', () => asked < count && ask());
    ask();
    expect(await elapsed(() => requests, count)).toBeGreaterThanOrEqual(least);
  });
});

test('a limit that is lifted holds nobody back any longer', async () => {
  const place = await openWeb((_request, response) => response.end(body));
  const { dial, gateway } = await openGateway({
    allow: ['web.test'],
    hosts: { 'web.test': place },
    limits: { bytesPerSecond: 1 },
  });
  const socket = await dial('web.test', 80);
  const received = counted(socket);
  socket.write('GET / HTTP/1.1\r\nHost: web.test\r\n\r\n');
  // The head of the request alone takes half a minute.
  const begun = performance.now();
  await elapsed(() => performance.now() - begun, 3000);
  expect(received()).toBe(0);
  const { bytesPerSecond: _limit, ...others } = gateway.rules().limits;
  await gateway.change((rules) => ({ ...rules, limits: others }));
  // At a byte in a second it would take weeks.
  expect(await elapsed(received, body.length)).toBeLessThan(3_600_000);
});
