/** Whom the proxy lets through to the editor, and what of their requests. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { OwnerTokens } from '../../../../src/cell/plugins/owner-tokens.js';
import { EditorProxy } from '../../../../src/cell/plugins/vscode/editor-proxy.js';

const token = 'a secret';
const tokens = new OwnerTokens();
tokens.add(createHash('sha256').update(token).digest('hex'));

/** In the place of the editor: tells what came through. */
const inside = createServer(async (incoming, response) => {
  const body = await text(incoming);
  if (incoming.url === '/sets-a-cookie')
    response.setHeader('set-cookie', 'session=mine; Domain=localhost; Path=/');
  response.setHeader('x-answer', 'inside').writeHead(418);
  response.end(
    JSON.stringify({ method: incoming.method, url: incoming.url, headers: incoming.headers, body }),
  );
});
new WebSocketServer({ server: inside }).on('connection', (socket, { headers }) => {
  socket.send(headers.cookie ?? 'no cookie');
  socket.on('message', (data) => socket.send(`heard ${data}`));
});
let proxy: EditorProxy;
let cookie: string;

beforeAll(async () => {
  inside.listen(0, '127.0.0.1');
  await once(inside, 'listening');
  const { port } = inside.address() as AddressInfo;
  proxy = await EditorProxy.open({
    host: '127.0.0.1',
    port: 0,
    tokens,
    connect: () => dial(port),
  });
  const { headers } = await ask(`/?tkn=${encodeURIComponent(token)}`);
  cookie = headers['set-cookie']?.[0]?.split(';')[0] ?? '';
});

afterAll(() => {
  proxy?.close();
  inside.close();
});

async function dial(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

async function passOf(base: string): Promise<string> {
  const { headers } = await fetch(`${base}/?tkn=a+secret`);
  return headers.get('set-cookie')?.split(';')[0] ?? '';
}

async function ask(path: string, headers: IncomingHttpHeaders = {}, method = 'GET', body = '') {
  const asking = request({ host: '127.0.0.1', port: proxy.port, path, headers, method, agent: false });
  asking.end(body);
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
}

test('the token is exchanged for a cookie, and the page leads on without it', async () => {
  const { status, headers, body } = await ask(`/?tkn=a%20secret&folder=%2Fa%22b`);
  expect(status).toBe(200);
  expect(headers['set-cookie']?.[0]).toMatch(/^vscode-\w+=\w{64}; Path=\/; HttpOnly; SameSite=Strict$/);
  expect(headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
  expect(body).toContain('content="0;url=/?folder=%2Fa%22b"');
  expect(body + JSON.stringify(headers)).not.toContain('secret');
});

test('an address that would lead elsewhere leads to the editor', async () => {
  const { body } = await ask('//evil.example/"><script>?tkn=a+secret');
  expect(body).toContain('content="0;url=/');
  expect(body).not.toContain('url=//');
  expect(body).not.toContain('<script>');
});

test('what has the cookie goes through whole, and the editor sees no cookie but its own', async () => {
  const [name] = cookie.split('=');
  const { status, headers, body } = await ask(
    '/some/path?query=1&tkn=its-own',
    {
      cookie: `session=of-another-server; ${cookie}; ${name}-b=2; c=3`,
      'sec-fetch-site': 'same-origin',
      'x-own': 'kept',
    },
    'POST',
    'body',
  );
  expect({ status, answer: headers['x-answer'] }).toEqual({ status: 418, answer: 'inside' });
  expect(JSON.parse(body)).toMatchObject({
    method: 'POST',
    url: '/some/path?query=1&tkn=its-own',
    headers: { cookie: 'b=2', 'x-own': 'kept' },
    body: 'body',
  });
  expect(JSON.parse((await ask('/', { cookie })).body).headers).not.toHaveProperty('cookie');
});

test('a cookie that the editor sets is bound to this proxy, for no other server', async () => {
  const [name] = cookie.split('=');
  const { headers } = await ask('/sets-a-cookie', { cookie });
  expect(headers['set-cookie']).toEqual([`${name}-session=mine; Path=/`]);
});

test.each([
  ['nothing to show', '/', {}],
  ['a wrong token', '/?tkn=another', {}],
  ['an empty token', '/?tkn=', {}],
  ['a wrong cookie', '/', () => ({ cookie: cookie.replace(/.$/, '-') })],
  ['the token as a cookie', '/', () => ({ cookie: `${cookie.split('=')[0]}=a secret` })],
  ['another host', '/', () => ({ cookie, host: 'evil.example' })],
  ['another host and the token', '/?tkn=a+secret', { host: 'evil.example' }],
  ['another origin', '/', () => ({ cookie, origin: 'http://evil.example' })],
  ['another port of this machine', '/', () => ({ cookie, origin: 'http://127.0.0.1:1' })],
  ['no origin that could be named', '/', () => ({ cookie, origin: 'null' })],
  ['a page elsewhere', '/', () => ({ cookie, 'sec-fetch-site': 'cross-site' })],
  ['a page of another server of this machine', '/', () => ({ cookie, 'sec-fetch-site': 'same-site' })],
] as const)('%s is refused', async (_, path, headers) => {
  const given: IncomingHttpHeaders = typeof headers === 'function' ? headers() : headers;
  const { status, headers: answered } = await ask(path, given);
  expect(status).toBe(403);
  expect(answered).not.toHaveProperty('set-cookie');
});

test('a token brought by a request that changes something is no token', async () => {
  expect((await ask('/?tkn=a+secret', {}, 'POST')).status).toBe(403);
});

test('WebSockets go through with the cookie, from pages of the editor', async () => {
  const origin = `http://127.0.0.1:${proxy.port}`;
  const socket = new WebSocket(`ws://127.0.0.1:${proxy.port}/x`, { headers: { cookie, origin } });
  const [first] = (await once(socket, 'message')) as [Buffer];
  expect(String(first)).toBe('no cookie');
  socket.send('hello');
  const [second] = (await once(socket, 'message')) as [Buffer];
  expect(String(second)).toBe('heard hello');
  socket.close();
  await once(socket, 'close');
});

test.each([
  ['without a cookie', () => ({})],
  ['from another origin', () => ({ cookie, origin: 'http://evil.example' })],
  ['for another host', () => ({ cookie, host: 'evil.example' })],
])('WebSockets %s are refused', async (_, headers) => {
  const socket = new WebSocket(`ws://127.0.0.1:${proxy.port}/`, { headers: headers() });
  const [error] = (await once(socket, 'error')) as [Error];
  expect(error.message).toContain('403');
});

test.each(['//', '//[', 'http://[', '*', '/%', '/?%', '/?tkn=%E0%A4%A'])(
  '%s is an answer of 403 and no more',
  async (path) => {
    expect((await ask(path)).status).toBe(403);
  },
);

test('an address of another form leads to the editor, too', async () => {
  const { body } = await ask('http://evil.example/?tkn=a+secret');
  expect(body).toContain('content="0;url=/?"');
});

test.each([
  'HTTP/1.1 000 Nothing\r\n\r\n',
  'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
  'HTTP/1.1 1000 Much\r\n\r\n',
  'HTTP/1.1 200 OK\r\nx: \u0001\r\n\r\n',
  'HTTP/1.1 200 OK\r\n: x\r\n\r\n',
  'garbage\r\n\r\n',
  '',
])('an editor that answers %j is one that does not answer', async (said) => {
  const hostile = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(said));
  });
  hostile.listen(0, '127.0.0.1');
  await once(hostile, 'listening');
  const { port } = hostile.address() as AddressInfo;
  const other = await EditorProxy.open({ host: '127.0.0.1', port: 0, tokens, connect: () => dial(port) });
  const base = `http://127.0.0.1:${other.port}`;
  expect((await fetch(base, { headers: { cookie: await passOf(base) } })).status).toBe(502);
  other.close();
  hostile.close();
});

test('an editor that is gone is told', async () => {
  const alone = await EditorProxy.open({
    host: '127.0.0.1',
    port: 0,
    tokens,
    connect: () => Promise.reject(new Error('gone')),
  });
  const base = `http://127.0.0.1:${alone.port}`;
  expect((await fetch(base, { headers: { cookie: await passOf(base) } })).status).toBe(502);
  alone.close();
});

test('more tokens than callers have displace the oldest', () => {
  const many = new OwnerTokens();
  const hash = (value: string) => createHash('sha256').update(value).digest('hex');
  for (let number = 0; number < 100; number++) many.add(hash(`token ${number}`));
  expect(many.has('token 0')).toBe(false);
  expect(many.has('token 99')).toBe(true);
});
