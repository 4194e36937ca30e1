import { once } from 'node:events';
import { get as httpGet } from 'node:http';
import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { routes } from '../../../src/cell/server/route-table.js';
import { actionNames } from '../../../src/protocol/index.js';
import { eventually } from '../../../src/testing/contract/given.js';
import { authorized, serve, type TestServer } from './serve.js';

let served: TestServer;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served[Symbol.asyncDispose]());

const call = (options: InjectOptions) =>
  served.server.app.inject({ ...options, headers: { ...authorized, ...options.headers } });
const act = (action: object) =>
  call({
    method: 'POST',
    url: '/v1/actions',
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify(action),
  });

describe('files', () => {
  const text = '0123456789';
  beforeAll(() => act({ action: 'write', path: 'digits', content: text }));

  test('a file goes up and comes down as it is', async () => {
    const payload = Buffer.from([0, 255, 1, 254, 10, 13]);
    const up = await call({
      method: 'PUT',
      url: '/v1/files?path=deep/bytes&mode=600',
      payload,
      headers: { 'content-type': 'image/png' },
    });
    expect(up.json()).toMatchObject({ files: 1, sizeBytes: 6 });
    const down = await call({ method: 'GET', url: '/v1/files?path=deep/bytes' });
    expect(down.rawPayload).toEqual(payload);
    expect(down.headers).toMatchObject({
      'content-length': '6',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
    });
    expect((await act({ action: 'stat', path: 'deep/bytes' })).json().mode).toBe(0o600);
  });

  test.each([
    ['bytes=2-4', 206, '234', 'bytes 2-4/10'],
    ['bytes=7-', 206, '789', 'bytes 7-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=5-100', 206, '56789', 'bytes 5-9/10'],
    ['bytes=10-', 416, undefined, 'bytes */10'],
    ['bytes=-0', 416, undefined, 'bytes */10'],
    ['bytes=4-2', 200, text, undefined],
    ['bytes=0-1,3-4', 200, text, undefined],
    ['lines=1-2', 200, text, undefined],
  ])('range %s gets %i', async (range, status, body, contentRange) => {
    const answer = await call({ method: 'GET', url: '/v1/files?path=digits', headers: { range } });
    expect([answer.statusCode, answer.headers['content-range']]).toEqual([status, contentRange]);
    if (body !== undefined) expect(answer.body).toBe(body);
    else expect(answer.json()).toMatchObject({ error: { code: 'invalid-action' } });
  });

  test('a HEAD request tells the size without the content', async () => {
    const answer = await call({ method: 'HEAD', url: '/v1/files?path=digits' });
    expect([answer.headers['content-length'], answer.body]).toEqual(['10', '']);
  });

  test('a directory comes down as an archive', async () => {
    const answer = await call({ method: 'GET', url: '/v1/files?path=.&format=tar' });
    expect(answer.headers['content-type']).toBe('application/x-tar');
    expect(answer.body).toContain('digits');
  });

  test.each([
    ['/v1/files', 400],
    ['/v1/files?path=missing', 404],
    ['/v1/files?path=../../etc/passwd', 403],
    ['/v1/files?path=/etc/passwd', 403],
    ['/v1/files?path=..%2f..%2fetc%2fpasswd', 403],
    ['/v1/files?path=a%00b', 400],
    ['/v1/files?path=digits&start=x', 400],
    ['/v1/files?path=digits&format=rar', 400],
    ['/v1/files?path=digits&other=1', 400],
    ['/v1/files/../../etc/passwd', 404],
    ['/%2e%2e/%2e%2e/etc/passwd', 404],
    ['/v1/actions/%2e%2e%2f', 400],
    ['/%', 400],
  ])('GET %s gets %i', async (url, status) => {
    const answer = await call({ method: 'GET', url });
    expect([answer.statusCode, typeof answer.json().error.code]).toEqual([status, 'string']);
  });

  test('uploads with a bad mode are refused', async () => {
    for (const mode of ['999', '7777', '-1', 'rwx'])
      expect(
        (await call({ method: 'PUT', url: `/v1/files?path=x&mode=${mode}`, payload: 'x' })).statusCode,
      ).toBe(400);
  });
});

describe('events', () => {
  test('a subscriber gets what is kept after its cursor and then what comes', async () => {
    await act({ action: 'write', path: 'one', content: '1' });
    const first = await listen('/v1/events');
    await eventually(() => first.events.length >= 2);
    const cursor = first.events.at(-1)?.id ?? 0;
    first.close();
    await act({ action: 'write', path: 'two', content: 'x'.repeat(200_000) });
    const second = await listen(`/v1/events?since=${cursor}`);
    await eventually(() => second.events.length >= 2);
    await act({ action: 'read', path: 'missing' });
    await eventually(() => second.events.length >= 4);
    second.close();
    expect(second.events.map(({ id }) => id)).toEqual([cursor + 1, cursor + 2, cursor + 3, cursor + 4]);
    expect(second.events).toMatchObject([
      { kind: 'action', action: { action: 'write' } },
      { kind: 'observation', cause: cursor + 1 },
      { kind: 'action', action: { action: 'read', path: 'missing' } },
      { kind: 'error', cause: cursor + 3, error: { code: 'not-found' } },
    ]);
    // The log mentions a large action and omits its content.
    expect(JSON.stringify(second.events).length).toBeLessThan(10_000);
  });

  async function listen(path: string) {
    const events: { id: number; kind: string }[] = [];
    const request = httpGet({ port: served.port, host: '127.0.0.1', path, headers: authorized });
    const [response] = await once(request, 'response');
    response.setEncoding('utf8');
    let rest = '';
    response.on('data', (chunk: string) => {
      const parts = `${rest}${chunk}`.split('\n\n');
      rest = parts.pop() ?? '';
      for (const part of parts) {
        const data = /^data: (.*)$/m.exec(part)?.[1];
        if (data !== undefined) events.push(JSON.parse(data));
      }
    });
    response.on('error', () => {});
    return { events, close: () => void request.destroy() };
  }
});

describe('about the server', () => {
  test('ready names each capability', async () => {
    const { ready, capabilities } = (await call({ method: 'GET', url: '/ready' })).json();
    expect(ready).toBe(true);
    expect(capabilities.map(({ name }: { name: string }) => name)).toEqual([
      'files',
      'processes',
      'shell',
      'terminals',
    ]);
  });

  test('a cell that was broken is not ready, and says why', async () => {
    await using broken = await serve({});
    const { rmSync } = await import('node:fs');
    rmSync(broken.workspace, { recursive: true });
    const answer = await broken.server.app.inject({ method: 'GET', url: '/ready', headers: authorized });
    expect(answer.statusCode).toBe(503);
    expect(answer.json().capabilities).toContainEqual(
      expect.objectContaining({ name: 'files', state: 'unavailable', reason: expect.stringMatching(/./) }),
    );
  });

  test('info, stats and metrics give their figures', async () => {
    expect((await call({ method: 'GET', url: '/v1/info' })).json()).toMatchObject({
      protocolVersion: 1,
      workspace: served.workspace,
      isolation: { tier: 'none' },
    });
    expect((await call({ method: 'GET', url: '/v1/stats' })).json()).toMatchObject({
      cell: { observation: 'stats' },
      server: { runningActions: 0 },
    });
    const metrics = await call({ method: 'GET', url: '/metrics' });
    expect(metrics.body).toMatch(/^workcell_actions_total\{action="write"\} \d+$/m);
  });

  test('the OpenAPI document describes every route and every action', async () => {
    const document = (await call({ method: 'GET', url: '/openapi.json' })).json();
    expect(Object.keys(document.paths).sort()).toEqual([...new Set(routes.map(({ path }) => path))].sort());
    expect(document.components.schemas.Action.oneOf).toHaveLength(actionNames.length);
    const references = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(
      (match) => match[1] ?? '',
    );
    expect(references.filter((name) => !(name in document.components.schemas))).toEqual([]);
    for (const { method, path } of routes) {
      const url = path.replace(/\{(\w+)\}/g, ':$1');
      expect(
        served.server.app.hasRoute({ method: method.toUpperCase() as 'GET', url }),
        `${method} ${url}`,
      ).toBe(true);
    }
  });

  test('the page needs nothing from elsewhere', async () => {
    const { body, headers } = await call({ method: 'GET', url: '/docs' });
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(body).not.toMatch(/<script|src=|https?:/);
    for (const name of actionNames) expect(body).toContain(`id="${name}"`);
  });

  test('a client of an earlier start of the server is refused with runtime-disconnected', async () => {
    const answer = await call({
      method: 'GET',
      url: '/v1/info',
      headers: { 'workcell-instance': 'earlier' },
    });
    expect(answer.json()).toMatchObject({ error: { code: 'runtime-disconnected' } });
  });
});
