import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { eventually } from '../../../src/testing/contract/given.js';
import { authorized, serve, type TestServer } from './serve.js';

let served: TestServer;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served[Symbol.asyncDispose]());

const open = (path: string) => new WebSocket(`ws://127.0.0.1:${served.port}${path}`, { headers: authorized });

const act = (action: object) =>
  served.server.app.inject({
    method: 'POST',
    url: '/v1/actions',
    headers: { ...authorized, 'content-type': 'application/json' },
    payload: JSON.stringify(action),
  });

/** Status and error of a request, which may ask for a WebSocket. */
async function ask(path: string, headers: Record<string, string> = {}) {
  const { port } = served;
  const request = httpRequest({
    port,
    host: '127.0.0.1',
    path,
    headers: { ...authorized, ...headers },
  }).end();
  const [response] = await once(request, 'response');
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece);
  return { status: response.statusCode, ...JSON.parse(Buffer.concat(pieces).toString()) };
}

const upgrade = { connection: 'Upgrade', upgrade: 'websocket' };
const handshake = {
  ...upgrade,
  'sec-websocket-version': '13',
  'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
};

describe('events over a WebSocket', () => {
  interface Frame {
    id?: number;
    kind: string;
  }

  async function frames(path: string, count: number): Promise<Frame[]> {
    const socket = open(path);
    const got: Frame[] = [];
    socket.on('message', (data) => got.push(JSON.parse(String(data))));
    await once(socket, 'open');
    await eventually(() => got.length >= count);
    socket.close();
    return got;
  }

  test('a subscriber gets what is kept after its cursor and then what comes', async () => {
    await act({ action: 'list_sessions' });
    const first = await frames('/v1/events', 2);
    const cursor = first.at(-1)?.id ?? 0;
    const following = frames(`/v1/events?since=${cursor}`, 2);
    await act({ action: 'list_sessions' });
    expect((await following).slice(0, 2)).toMatchObject([
      { id: cursor + 1, kind: 'action' },
      { id: cursor + 2, kind: 'observation', cause: cursor + 1 },
    ]);
  });

  test('a cursor of another start of the server begins with a gap', async () => {
    await act({ action: 'list_sessions' });
    for (const since of ['5000', 'another:1']) {
      const [gap, event] = await frames(`/v1/events?since=${since}`, 2);
      expect([gap, event]).toMatchObject([{ kind: 'gap', restarted: true }, { id: 1 }]);
      const request = httpRequest({
        port: served.port,
        host: '127.0.0.1',
        path: '/v1/events',
        headers: { ...authorized, 'last-event-id': since },
      }).end();
      const [response] = await once(request, 'response');
      const [text] = await once(response.setEncoding('utf8'), 'data');
      expect(text).toContain('event: gap\ndata: {"restarted":true}\n\n');
      request.destroy();
    }
  });

  test('a cursor that is none is refused before the socket opens', async () => {
    expect(await ask('/v1/events?since=-1', handshake)).toMatchObject({
      status: 400,
      error: { code: 'invalid-action' },
    });
  });
});

describe('whoever comes the wrong way is told so', () => {
  test.each([
    ['a plain request to a terminal', '/v1/terminals', {}, 400],
    ['a WebSocket to a plain route', '/v1/info', handshake, 400],
    ['a WebSocket to nowhere', '/v1/nowhere', handshake, 404],
    ['a WebSocket without its key', '/v1/terminals', upgrade, 400],
  ])('%s', async (_what, path, headers, status) => {
    const answer = await ask(path, headers);
    expect(answer).toMatchObject({ status, error: { message: expect.stringContaining(' ') } });
  });

  test.each([
    ['no Host', 'GET /v1/info HTTP/1.1\r\n\r\n', 403],
    ['two Hosts', 'GET /v1/info HTTP/1.1\r\nHost: localhost\r\nHost: elsewhere\r\n\r\n', 400],
    ['an expectation', 'GET /v1/info HTTP/1.1\r\nHost: localhost\r\nExpect: tea\r\n\r\n', 417],
    ['no HTTP', 'nonsense\r\n\r\n', 400],
  ])('%s', async (_what, text, status) => {
    const socket = connect(served.port, '127.0.0.1');
    socket.write(text);
    let answer = '';
    socket.setEncoding('utf8').on('data', (piece) => {
      answer += piece;
      if (answer.includes('}}')) socket.destroy();
    });
    await once(socket, 'close');
    expect(answer).toContain(`HTTP/1.1 ${status} `);
    expect(JSON.parse(/\{.*\}/.exec(answer)?.[0] ?? '')).toMatchObject({
      error: { code: expect.any(String) },
    });
  });

  test('a plain request to a port connects to nothing', async () => {
    let connections = 0;
    const inside = createServer((socket) => {
      connections++;
      socket.destroy();
    }).listen(0, '127.0.0.1');
    await once(inside, 'listening');
    const { port } = inside.address() as AddressInfo;
    expect(await ask(`/v1/ports/${port}`)).toMatchObject({ status: 400, error: { code: 'invalid-action' } });
    // The permitted way does connect, and comes later, so that nothing is still on its way.
    const socket = open(`/v1/ports/${port}`);
    await once(socket, 'close');
    expect(connections).toBe(1);
    inside.close();
  });
});

test('what is sent before the terminal is open arrives, in order', async () => {
  const socket = open('/v1/terminals');
  let output = '';
  socket.on('message', (data, isBinary) => {
    if (isBinary) output += String(data);
  });
  await once(socket, 'open');
  const script = 'for i in $(seq 15); do read line; echo "got $line"; done; stty size';
  socket.send(JSON.stringify({ type: 'open', argv: ['bash', '-c', script] }));
  socket.send(JSON.stringify({ type: 'resize', columns: 77, rows: 33 }));
  const lines = Array.from({ length: 15 }, (_, index) => `line-${index}`);
  for (const line of lines) socket.send(Buffer.from(`${line}\n`), { binary: true });
  await once(socket, 'close');
  expect([...output.matchAll(/got (\S+)/g)].map(([, line]) => line)).toEqual(lines);
  expect(output).toContain('33 77');
});

test('input without a terminal is refused', async () => {
  const socket = open('/v1/terminals');
  await once(socket, 'open');
  socket.send(Buffer.from('x'), { binary: true });
  const [data] = await once(socket, 'message');
  expect(JSON.parse(String(data))).toMatchObject({ type: 'error', error: { code: 'invalid-action' } });
});
