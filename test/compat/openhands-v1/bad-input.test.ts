import { request } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from './server.js';

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(async () => {
  expect((await fetch(`${server.host}/alive`)).status).toBe(200);
  await server[Symbol.asyncDispose]();
});

const bodies = [
  '',
  'nonsense',
  '{',
  'null',
  '[]',
  '"text"',
  '{}',
  '{"command":null}',
  '{"command":["ls"]}',
  '{"command":"a\\u0000b"}',
  '{"command":"ls","timeout":-1}',
  '{"command":"ls","timeout":1e99}',
  '{"command":"ls","timeout":"soon"}',
  '{"command":"ls","cwd":7}',
  '{"__proto__":{"command":"ls"}}',
  `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
];

test.each(bodies)('the body %.40s starts nothing', async (body) => {
  for (const name of ['start_bash_command', 'execute_bash_command'])
    for (const type of ['application/json', 'text/plain', 'application/xml', 'multipart/form-data']) {
      const response = await server.fetch(`/api/bash/${name}`, {
        method: 'POST',
        body,
        headers: { 'content-type': type },
      });
      expectRefusal(response.status);
      expect(await response.json()).toHaveProperty('detail');
    }
});

const paths = [
  '/api/bash/bash_events/search?limit=0',
  '/api/bash/bash_events/search?limit=101',
  '/api/bash/bash_events/search?limit=many',
  '/api/bash/bash_events/search?limit=1&limit=2',
  '/api/bash/bash_events/search?kind__eq=Nothing',
  '/api/bash/bash_events/search?timestamp__gte=yesterday',
  '/api/bash/bash_events/search?timestamp__lt=2026-99-99T99:99:99Z',
  '/api/bash/bash_events/search?order__gt=1.5',
  '/api/bash/bash_events/search?sort_order=RANDOM',
  '/api/bash/bash_events/search?page_id=../../etc',
  '/api/bash/bash_events/__proto__',
  `/api/bash/bash_events/${'f'.repeat(300)}`,
  '/api/file/download',
  '/api/file/download?path=',
  '/api/file/download?path=%00',
  '/api/file/download?path=/%00',
  '/api/file/download?path=/a&path=/b',
  `/api/file/download?path=/${'x'.repeat(5000)}`,
  '/api/file/download?path=/dev/zero',
  '/api/file/download?path=/proc/self/mem',
  '/api/file/search_subdirs',
  '/api/file/search_subdirs?path=relative',
  '/api/file/home?include_hidden=maybe',
  '/api/git/changes',
  '/api/git/changes?path=/%00',
  '/api/git/diff?path=',
  '/api/git/commits?path=/&limit=0',
  '/api/git/commits/zz/changes?path=/',
  '/api/settings/secrets/-',
  '/api/%ff',
  '/api/%2e%2e/%2e%2e/etc/passwd',
];

test.each(paths)('GET %.80s is refused', async (path) => {
  expectRefusal((await server.fetch(path)).status);
});

test('a batch of ids must be a list of texts', async () => {
  for (const body of ['', '{}', 'nonsense', '[1]', `${'['.repeat(1000)}`, ' '.repeat(2_000_000)])
    expectRefusal(await getWithBody('/api/bash/bash_events/', body));
  expect(await getWithBody('/api/bash/bash_events/', '["__proto__"]')).toBe(200);
});

test('names that reach for more than they say get nothing', async () => {
  const inside = (name: string) => `${server.workspace}/${name}`;
  for (const path of [inside('x'.repeat(300)), inside('a/'.repeat(3000)), inside('\ud800'), '/', '//']) {
    const form = new FormData();
    form.append('file', new Blob(['x']), 'x');
    const query = new URLSearchParams({ path });
    const upload = await server.fetch(`/api/file/upload?${query}`, { method: 'POST', body: form });
    expect(upload.status).toBeLessThan(500);
    expect((await server.fetch(`/api/file/download?${query}`)).status).toBeLessThan(500);
    expect((await server.fetch(`/api/git/diff?${query}`)).status).toBeLessThan(500);
    const made = await server.fetch(`/api/file/create_directory?${query}`, { method: 'POST' });
    expect(made.status).toBeLessThan(500);
  }
});

test('no query brings a route to fail', async () => {
  const routes = [
    '/api/bash/bash_events/search',
    '/api/file/download',
    '/api/file/search_subdirs',
    '/api/git/changes',
    '/api/git/diff',
    '/api/git/commits',
  ];
  const name = fc.constantFrom(
    'path',
    'ref',
    'commit',
    'limit',
    'page_id',
    'command_id__eq',
    'order__gt',
    '__proto__',
  );
  const value = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.string().map((text) => `${server.workspace}/${text}`),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...routes),
      fc.array(fc.tuple(name, value), { maxLength: 5 }),
      async (route, pairs) => {
        const response = await server.fetch(`${route}?${new URLSearchParams(pairs)}`);
        await response.arrayBuffer();
        expect(response.status).toBeLessThan(500);
      },
    ),
    { numRuns: 150 },
  );
});

function expectRefusal(status: number | undefined): void {
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
}

function getWithBody(path: string, body: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-session-api-key': server.apiKey, 'content-type': 'application/json' };
    request(`${server.host}${path}`, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .setHeader('content-length', Buffer.byteLength(body))
      .end(body);
  });
}
