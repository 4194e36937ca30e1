/** What CAMEL's RemoteHttpRuntime sends, and what it must get back. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { start } from '../../cli/workcell.js';

const kit = fileURLToPath(new URL('../../../src/testing/contract/tools/kit.ts', import.meta.url));
const python = fileURLToPath(new URL('../../runtime/tools/fixtures/tools.py', import.meta.url));
const kits = fileURLToPath(new URL('../../runtime/tools/fixtures/kits.py', import.meta.url));
const swapped = `${kits}#swapped`;
const counter = `${kits}#Counter{"start":5}`;
const token = 'token-for-the-test';

let server: ReturnType<typeof start>;
let origin: string;

beforeAll(async () => {
  // As the client starts it: the path of its own server, then the entry points.
  const words = [
    'camel-server',
    '/opt/camel/runtimes/api.py',
    kit,
    python,
    swapped,
    counter,
    '--backend',
    'cli',
  ];
  server = start(words, { env: { CAMEL_SERVER_TOKEN: token, CAMEL_SERVER_PORT: '0' } });
  await server.printed('listening on http://127.0.0.1:');
  origin = /listening on (\S+)/.exec(server.text())?.[1] ?? '';
});
afterAll(async () => {
  server.child.kill('SIGTERM');
  expect((await server.ended).exitCode).toBe(0);
});

async function send(path: string, init: RequestInit & { password?: string } = {}) {
  const { password = token, ...rest } = init;
  const authorization = `Basic ${Buffer.from(`any:${password}`).toString('base64')}`;
  const response = await fetch(`${origin}${path}`, { ...rest, headers: { authorization, ...rest.headers } });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const call = (tool: string, body: unknown) =>
  send(`/${tool}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

describe('the tool server', () => {
  test('answers anything to the probe, and nothing else without the password', async () => {
    expect((await fetch(origin)).status).toBe(401);
    expect(await send('/')).toEqual({ status: 404, body: { detail: 'Not Found' } });
    expect((await send('/health', { password: 'wrong' })).status).toBe(401);
    expect((await send('/health', { headers: { origin: 'http://evil.example' } })).status).toBe(403);
  });

  test('tells its health', async () => {
    const { body } = await send('/health');
    expect(body).toMatchObject({ status: 'ok', toolkits: [kit, python, swapped, counter] });
    const endpoints = body.endpoints as string[];
    expect(endpoints).toEqual(expect.arrayContaining(['add', 'next', 'shapes']));
    expect(endpoints.filter((name) => name === 'add')).toHaveLength(2);
  });

  test('describes its tools for programs and for people', async () => {
    const { body } = await send('/openapi.json');
    expect(body).toMatchObject({
      openapi: '3.1.0',
      paths: {
        '/add': {
          post: { requestBody: { content: { 'application/json': { schema: { type: 'object' } } } } },
        },
      },
    });
    for (const path of ['/docs', '/redoc']) {
      const page = await fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${token}` } });
      expect(page.headers.get('content-type')).toContain('text/html');
      expect(await page.text()).toContain('POST /shapes');
      expect(await send(path, { method: 'POST' })).toMatchObject({ status: 404 });
      expect(await send(path, { method: 'PUT' })).toMatchObject({ status: 405 });
    }
  });

  test('serves a Python class with the arguments behind it', async () => {
    const endpoints = (await send('/health')).body.endpoints as string[];
    expect(endpoints.at(-1)).toBe('next');
  });

  test('takes arguments by position and by name, and gives JSON within JSON', async () => {
    const request = { args: [1], kwargs: { b: 2 }, redirect_stdout: false };
    expect(await call('add', request)).toEqual({ status: 200, body: { output: '3' } });
    expect(await call('echo', { args: ['ü'], kwargs: {} })).toEqual({ status: 200, body: { output: '"ü"' } });
    expect(await call('give', { args: ['nothing'], kwargs: {} })).toEqual({
      status: 200,
      body: { output: 'null' },
    });
    expect(await call('shapes', { args: ['n', ['t']], kwargs: { loud: true } })).toMatchObject({
      status: 200,
    });
  });

  test('takes positions in the order of the function, not of its schema', async () => {
    expect(await call('subtract', { args: [5, 3], kwargs: {} })).toEqual({
      status: 200,
      body: { output: '2' },
    });
  });

  test('gives what was printed when it is asked for', async () => {
    const request = { args: [], kwargs: { ms: 1, say: 'hi' }, redirect_stdout: { truthy: 1 } };
    expect(await call('wait', request)).toEqual({ status: 200, body: { output: '"hi"', stdout: 'hi\n' } });
  });

  test('keeps the state of toolkits', async () => {
    const request = { args: [], kwargs: {} };
    expect([(await call('next', request)).body, (await call('next', request)).body]).toEqual([
      { output: '1' },
      { output: '2' },
    ]);
  });

  test.each([
    ['fail', { args: ['error'], kwargs: {} }, 'Tool "fail" failed: broken'],
    ['add', { args: ['x'], kwargs: {} }, 'are not valid: a'],
    ['add', { args: [1, 2, 3], kwargs: {} }, 'takes 2 positional arguments'],
    ['add', { args: [1], kwargs: { a: 1 } }, 'by position and by name'],
    ['add', { kwargs: {} }, '"args" must be a list'],
    ['give', { args: ['nan'], kwargs: {} }, 'is NaN'],
  ])('%s %j is a 500 with the reason', async (tool, body, message) => {
    expect(await call(tool, body)).toEqual({
      status: 500,
      body: { detail: 'Internal Server Error', error_message: expect.stringContaining(message) },
    });
  });

  test('refuses what is no request', async () => {
    expect(await call('add', '[1]')).toMatchObject({ status: 422, body: { detail: [{ loc: ['body'] }] } });
    expect(await call('add', '{')).toMatchObject({ status: 422, body: { detail: [{ loc: ['body'] }] } });
    expect(await call('absent', {})).toEqual({ status: 404, body: { detail: 'Not Found' } });
    expect(await send('/add')).toEqual({ status: 405, body: { detail: 'Method Not Allowed' } });
  });
});
