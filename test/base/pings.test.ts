/** A peer that sends pings without end and reads no answer to them. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { answerPings, passPings } from '../../src/base/pings.js';

let server: Server;
let sockets: WebSocketServer;

beforeEach(async () => {
  server = createServer();
  sockets = new WebSocketServer({ server, autoPong: false });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(() => {
  for (const socket of sockets.clients) socket.terminate();
  server.closeAllConnections();
  server.close();
});

const port = () => (server.address() as AddressInfo).port;

/** Opens a socket by hand, whose answers nobody reads. */
async function silentReader(): Promise<{ raw: Socket; socket: WebSocket }> {
  const opened = once(sockets, 'connection') as Promise<[WebSocket]>;
  const raw = connect(port(), '127.0.0.1');
  raw.write(
    `GET / HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${randomBytes(16).toString('base64')}\r\n\r\n`,
  );
  const [socket] = await opened;
  raw.pause();
  return { raw, socket };
}

const ping = Buffer.concat([Buffer.from([0x89, 0x80 | 125, 0, 0, 0, 0]), Buffer.alloc(125, 'p')]);
const flood = Buffer.concat(Array(8000).fill(ping));
/** More than the buffers of both ends in the system, many times. */
const floods = 20;

async function send(raw: Socket): Promise<void> {
  for (let count = 0; count < floods; count++) if (!raw.write(flood)) await once(raw, 'drain');
}

async function pingsOf(socket: WebSocket): Promise<void> {
  let seen = 0;
  await new Promise<void>((resolve) =>
    socket.on('ping', () => {
      if (++seen === 8000 * floods) resolve();
    }),
  );
}

test('is answered with no more than it reads', async () => {
  const { raw, socket } = await silentReader();
  answerPings(socket);
  const all = pingsOf(socket);
  await send(raw);
  await all;
  expect(socket.bufferedAmount).toBeLessThan(1024 * 1024);
  raw.destroy();
});

test('has its pings passed on to one who reads nothing, no faster than he reads', async () => {
  const { raw, socket: to } = await silentReader();
  const opened = once(sockets, 'connection') as Promise<[WebSocket]>;
  const client = new WebSocket(`ws://127.0.0.1:${port()}`);
  const [from] = await opened;
  passPings(from, to);
  const seen = pingsOf(from);
  await once(client, 'open');
  for (let count = 0; count < 8000 * floods; count++) {
    client.ping('p'.repeat(125));
    if (count % 8000 === 0) await new Promise((resolve) => client.ping('', undefined, resolve));
  }
  await seen;
  expect(to.bufferedAmount).toBeLessThan(1024 * 1024);
  client.terminate();
  raw.destroy();
});

test('gets the last answer when it reads', async () => {
  const opened = once(sockets, 'connection') as Promise<[WebSocket]>;
  const client = new WebSocket(`ws://127.0.0.1:${port()}`);
  answerPings((await opened)[0]);
  await once(client, 'open');
  for (let count = 0; count < 100; count++) client.ping(String(count));
  const pongs: string[] = [];
  await new Promise<void>((resolve) =>
    client.on('pong', (data) => {
      pongs.push(String(data));
      if (String(data) === '99') resolve();
    }),
  );
  expect(pongs.at(-1)).toBe('99');
  client.terminate();
});
