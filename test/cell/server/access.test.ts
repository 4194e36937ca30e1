import { once } from 'node:events';
import { statSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { serve, type TestServer, token } from './serve.js';

const good = { host: 'localhost', authorization: `Bearer ${token}` };

describe('who may talk to a server', () => {
  let served: TestServer;
  beforeAll(async () => {
    served = await serve({
      hosts: ['cell.example'],
      origins: ['https://console.example'],
      tokenHeaders: ['x-key'],
    });
  });
  afterAll(() => served[Symbol.asyncDispose]());

  const get = (url: string, headers: Record<string, string>) =>
    served.server.app.inject({ method: 'GET', url, headers });

  test.each([
    ['no token', { authorization: '' }],
    ['a wrong token', { authorization: `Bearer ${token}x` }],
    ['the beginning of the token', { authorization: `Bearer ${token.slice(0, -1)}` }],
    ['another scheme', { authorization: `Basic ${token}` }],
    ['the token in the address', { authorization: '' }],
  ])('%s is refused with unauthorized', async (what, headers) => {
    const url = what.includes('address') ? `/v1/info?token=${token}` : '/v1/info';
    const answer = await get(url, { ...good, ...headers });
    expect(answer.statusCode).toBe(401);
    expect(answer.json()).toMatchObject({ error: { code: 'unauthorized' } });
    expect(answer.body).not.toContain(token);
  });

  test('a configured header may carry the token instead', async () => {
    expect((await get('/v1/info', { host: 'localhost', 'x-key': token })).statusCode).toBe(200);
    expect((await get('/v1/info', { host: 'localhost', 'x-other': token })).statusCode).toBe(401);
  });

  test.each([
    ['localhost', 200],
    ['LOCALHOST:8700', 200],
    ['127.0.0.1', 200],
    ['127.8.9.1:1', 200],
    ['[::1]:8700', 200],
    ['cell.example', 200],
    ['Cell.Example:443', 200],
    ['evil.example', 403],
    ['localhost.evil.example', 403],
    ['127.0.0.1.evil.example', 403],
    ['evil.example:127.0.0.1', 403],
    ['localhost@evil.example', 403],
    ['128.0.0.1', 403],
    ['[::2]', 403],
    ['2130706433', 403],
  ])('a request for host %s gets %i', async (host, status) => {
    const answer = await get('/v1/info', { ...good, host });
    expect(answer.statusCode).toBe(status);
    if (status === 403) expect(answer.json()).toMatchObject({ error: { code: 'request-refused' } });
    // What needs no token still needs the right host.
    expect((await get('/alive', { host })).statusCode).toBe(status);
  });

  test.each([
    [undefined, 200],
    ['https://console.example', 200],
    ['https://evil.example', 403],
    ['http://console.example', 403],
    ['http://localhost', 403],
    ['null', 403],
  ])('a request from origin %s gets %i, and never a CORS header', async (origin, status) => {
    const answer = await get('/v1/info', { ...good, ...(origin !== undefined && { origin }) });
    expect(answer.statusCode).toBe(status);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test.each([
    ['the token', {}, 'open'],
    ['no token', { authorization: 'none' }, 401],
    ['a foreign origin', { origin: 'https://evil.example' }, 403],
    ['a foreign host', { host: 'evil.example' }, 403],
  ])('a terminal with %s: %s', async (_what, headers, expected) => {
    const socket = new WebSocket(`ws://127.0.0.1:${served.port}/v1/terminals`, {
      headers: { ...good, ...headers },
    });
    const outcome = await Promise.race([
      once(socket, 'open').then(() => 'open'),
      once(socket, 'unexpected-response').then(
        ([, response]) => (response as { statusCode: number }).statusCode,
      ),
    ]);
    expect(outcome).toBe(expected);
    socket.terminate();
  });

  test('events are checked like everything else', async () => {
    expect((await get('/v1/events', { ...good, origin: 'https://evil.example' })).statusCode).toBe(403);
    expect((await get('/v1/events', { host: 'localhost' })).statusCode).toBe(401);
  });

  test('alive answers without a token and tells nothing else', async () => {
    const answer = await get('/alive', { host: 'localhost' });
    expect([answer.statusCode, answer.json()]).toEqual([200, { alive: true }]);
  });
});

describe('where a server listens', () => {
  test.each([
    ['loopback without a token', { token: undefined }, /token/],
    ['loopback with a short token', { token: 'short' }, /shorter/],
    ['all addresses without being allowed to', { listen: { host: '0.0.0.0', port: 0 } }, /loopback/],
    [
      'all addresses without a token',
      { listen: { host: '0.0.0.0', port: 0 }, allowRemote: true, token: undefined },
      /token/,
    ],
  ])('%s is refused with invalid-config', async (_what, options, message) => {
    await expect(serve(options)).rejects.toMatchObject({
      code: 'invalid-config',
      message: expect.stringMatching(message),
    });
  });

  test('all addresses are fine when allowed, with a token', async () => {
    await using served = await serve({ listen: { host: '0.0.0.0', port: 0 }, allowRemote: true });
    expect(served.port).toBeGreaterThan(0);
  });

  test('a port that is taken is reported', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    await expect(serve({ listen: { host: '127.0.0.1', port } })).rejects.toMatchObject({
      code: 'backend-unavailable',
    });
    other.close();
  });

  test('a socket is its owner’s alone', async () => {
    await using served = await serve({ over: 'unix' });
    expect(statSync(served.socketPath).mode & 0o777).toBe(0o600);
  });
});
