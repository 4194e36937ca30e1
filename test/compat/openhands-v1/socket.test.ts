import { createRequire } from 'node:module';
import { BashClient } from '@openhands/typescript-client/clients';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startServer, type TestServer } from './server.js';

interface Event {
  kind: string;
  [field: string]: unknown;
}

let server: TestServer;
let url: string;

beforeAll(async () => {
  server = await startServer();
  url = `${server.host.replace('http', 'ws')}/sockets/bash-events`;
});
afterAll(() => server[Symbol.asyncDispose]());

test('the real socket client gets earlier and new events, each once and in order', async () => {
  // The published client finds its WebSocket only through a global `require`.
  Object.assign(globalThis, { require: createRequire(import.meta.url) });
  const { BashWebSocketClient } = await import('@openhands/typescript-client');
  await using own = await startServer();
  const bash = new BashClient(own);
  await bash.executeCommand('echo early');
  const events = new Received();
  const client = new BashWebSocketClient({
    ...own,
    resendMode: 'all',
    callback: (event) => events.add(event as unknown as Event),
  });
  client.start();
  try {
    await events.have(2);
    await bash.executeCommand('echo late');
    await events.have(4);
    expect(events.all).toEqual((await bash.searchEvents()).items);
  } finally {
    client.stop();
  }
});

test('a command sent over the socket runs, and its events come back', async () => {
  const { socket, events } = await open(`?session_api_key=${server.apiKey}`);
  socket.send(JSON.stringify({ command: 'echo over the socket', timeout: 10 }));
  await events.have(2);
  expect(events.all).toMatchObject([
    { kind: 'BashCommand', command: 'echo over the socket', timeout: 10 },
    { kind: 'BashOutput', stdout: 'over the socket\n', exit_code: 0 },
  ]);
  socket.close();
});

test('a frame that makes no sense is answered with an error, and the socket goes on', async () => {
  const { socket, events } = await open(`?session_api_key=${server.apiKey}`);
  for (const frame of ['nonsense', '{}', '[]', 'null', '{"command":1}', '{"command":"a\\u0000b"}'])
    socket.send(frame);
  await events.have(6);
  for (const event of events.all)
    expect(event).toEqual({
      kind: 'BashError',
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      timestamp: expect.any(String),
      code: 'ValidationError',
      detail: expect.any(String),
    });
  socket.send(JSON.stringify({ command: 'true' }));
  await events.have(8);
  socket.close();
});

test('the key may come in a header or in the first frame, and once more without harm', async () => {
  const byHeader = await open('', { headers: { 'x-session-api-key': server.apiKey } });
  const byFrame = await open('');
  const key = JSON.stringify({ type: 'auth', session_api_key: server.apiKey });
  byFrame.socket.send(key);
  byFrame.socket.send(key);
  byFrame.socket.send(JSON.stringify({ command: 'echo in' }));
  await Promise.all([byHeader.events.have(2), byFrame.events.have(2)]);
  expect(byFrame.events.all.map(({ kind }) => kind)).toEqual(['BashCommand', 'BashOutput']);
  byHeader.socket.close();
  byFrame.socket.close();
});

test('a socket without the key is closed with 4001, and nothing it sends is run', async () => {
  const wrong = await open('?session_api_key=wrong');
  expect(await wrong.closed).toBe(4001);
  const late = await open('');
  late.socket.send(JSON.stringify({ command: 'touch intruder' }));
  late.socket.send(JSON.stringify({ type: 'auth', session_api_key: server.apiKey }));
  late.socket.send(JSON.stringify({ command: 'touch intruder' }));
  expect(await late.closed).toBe(4001);
  const listing = await new BashClient(server).executeCommand('ls');
  expect(listing.stdout ?? '').not.toContain('intruder');
});

test('one subscriber too many is asked to come later', async () => {
  await using own = await startServer();
  const many = `${own.host.replace('http', 'ws')}/sockets/bash-events?session_api_key=${own.apiKey}`;
  const sockets = await Promise.all(Array.from({ length: 51 }, () => openAt(many)));
  const codes = await Promise.race(sockets.map(({ closed }) => closed));
  expect(codes).toBe(1013);
  for (const { socket } of sockets) socket.terminate();
});

test('a frame that is too long ends its own socket only', async () => {
  const { socket, closed } = await open(`?session_api_key=${server.apiKey}`);
  socket.send(JSON.stringify({ command: ' '.repeat(2_000_000) }));
  expect(await closed).toBe(1009);
  expect((await new BashClient(server).executeCommand('true')).exit_code).toBe(0);
});

test('a conversation is not there', async () => {
  const { closed } = await openAt(`${server.host.replace('http', 'ws')}/sockets/events/some-id`);
  expect(await closed).toBe(4004);
});

test('a page from elsewhere gets no socket', async () => {
  const socket = new WebSocket(`${url}?session_api_key=${server.apiKey}`, {
    origin: 'https://evil.example',
  });
  const status = await new Promise((resolve) => {
    socket.once('unexpected-response', (_request, response) => resolve(response.statusCode));
    socket.once('open', () => resolve('open'));
  });
  expect(status).toBe(403);
});

test('a reader that takes nothing neither holds commands up nor is sent without end', async () => {
  const { socket } = await open(`?session_api_key=${server.apiKey}`);
  socket.pause();
  const output = await new BashClient(server).executeCommand('head -c 60000000 /dev/zero | tr "\\0" x');
  expect(output.exit_code).toBe(0);
  socket.terminate();
});

function open(query: string, options: { headers?: Record<string, string> } = {}) {
  return openAt(`${url}${query}`, options);
}

async function openAt(address: string, options: { headers?: Record<string, string> } = {}) {
  const socket = new WebSocket(address, options);
  const events = new Received();
  socket.on('message', (data) => events.add(JSON.parse(String(data)) as Event));
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  return { socket, events, closed };
}

class Received {
  readonly all: Event[] = [];
  #wake = () => {};

  add(event: Event): void {
    this.all.push(event);
    this.#wake();
  }

  async have(count: number): Promise<void> {
    while (this.all.length < count)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }
}
