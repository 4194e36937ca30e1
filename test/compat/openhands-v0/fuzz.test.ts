/** Random actions and bodies: an answer of the documented kinds each time, and a server that goes on. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from './server.js';

let server: TestServer;
beforeAll(() => {
  server = startServer({ noChangeSeconds: 0.05 });
});
afterAll(() => server[Symbol.asyncDispose]());

const observations = ['run', 'read', 'write', 'edit', 'error'];

const text = fc.oneof(fc.string({ maxLength: 40 }), fc.string({ unit: 'binary', maxLength: 20 }));
const path = fc.oneof(
  fc.constantFrom(
    'a',
    'b/c',
    '.',
    '',
    '../..',
    '/etc/hostname',
    '/proc/self/environ',
    'a.png',
    '/',
    'a/../b',
  ),
  text.map((name) => name.replace(/^\/+/, '')),
);
const number = fc.oneof(fc.integer({ min: -3, max: 12 }), fc.constantFrom(2 ** 31, -(2 ** 40)));

/** Nothing here may reach beyond the scratch directory, so commands come from a list. */
const command = fc.constantFrom(
  ...[
    'echo a',
    '',
    ' ',
    'cat',
    'C-c',
    'C-d',
    'C-z',
    'false',
    'a\nb',
    'echo "',
    'exit 4',
    'set -e',
    'cd /',
    'sleep 0.1',
  ],
  ...[
    'kill -9 $$',
    'echo \0',
    '((',
    'read x',
    'trap "" INT; sleep 0.2',
    'printf "\\033[?1049h"',
    'exec 1>&-',
    '!!',
    '#',
  ],
);

const action = fc.oneof(
  fc.record({
    action: fc.constant('run'),
    args: fc.record(
      { command, is_input: fc.boolean(), hidden: fc.boolean(), is_static: fc.boolean() },
      { requiredKeys: ['command'] },
    ),
    timeout: fc.constantFrom(0.05, 0.2, 0, -1),
  }),
  fc.record({
    action: fc.constant('read'),
    args: fc.record(
      {
        path,
        start: number,
        end: number,
        impl_source: fc.constantFrom('default', 'oh_aci'),
        view_range: fc.anything(),
      },
      { requiredKeys: ['path'] },
    ),
  }),
  fc.record({
    action: fc.constant('write'),
    // Whatever the shell did, writes stay in the scratch directory.
    args: fc.record({
      path: fc.constantFrom('w', 'w/x', '.', 'dir/y', 'bad\0'),
      content: text,
      start: number,
      end: number,
    }),
  }),
  fc.record({
    action: fc.constant('edit'),
    args: fc.record(
      {
        path: fc.constantFrom('a', '@/a', '@/dir/y', '@', '@/none/x', '@/\0'),
        command: fc.constantFrom('view', 'create', 'str_replace', 'insert', 'undo_edit', 'x'),
        file_text: text,
        old_str: text,
        new_str: text,
        insert_line: fc.oneof(number, fc.anything()),
      },
      { requiredKeys: ['path', 'command'] },
    ),
  }),
);

test('random actions are answered with an observation, never with 5xx', async () => {
  await fc.assert(
    fc.asyncProperty(action, async (event) => {
      const args: Record<string, unknown> = { ...event.args };
      const given = String(args.path ?? '');
      if (event.action === 'write' || event.action === 'edit')
        args.path =
          event.action === 'write' ? `${server.directory}/${given}` : given.replace('@', server.directory);
      const { status, body } = await server.request({
        method: 'POST',
        url: '/execute_action',
        headers: { 'content-type': 'application/json' },
        payload: JSON.stringify({ action: { ...event, args } }),
      });
      expect([200, 400, 422]).toContain(status);
      if (status === 200) expect(observations).toContain((body as { observation: string }).observation);
      else expect(body).toMatchObject({ detail: expect.any(String) });
    }),
    { numRuns: 250 },
  );
  // End whatever still runs first.
  for (let tries = 0; tries < 5; tries++) await server.run('C-c', { is_input: true }, 2);
  expect((await server.run('echo alive >/dev/tty', {}, 5)).content).toMatch(/alive$/);
}, 120_000);

test('random bodies are 4xx', async () => {
  const urls = ['/execute_action', '/list_files', '/update_mcp_server', '/upload_file'];
  const types = [
    'application/json',
    'text/plain',
    'multipart/form-data; boundary=b',
    'multipart/form-data',
    'x/y',
  ];
  const body = fc.oneof(
    fc.json(),
    text,
    fc.anything().map((value) => JSON.stringify({ action: value }) ?? ''),
    fc
      .record({ action: fc.string(), args: fc.dictionary(fc.string(), fc.json()) })
      .map((value) => JSON.stringify({ action: value })),
    text.map(
      (value) => `--b\r\nContent-Disposition: form-data; name="file"; filename="${value}"\r\n\r\n${value}`,
    ),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...urls),
      fc.constantFrom(...types),
      body,
      async (url, type, payload) => {
        const { status } = await server.request({
          method: 'POST',
          url,
          headers: { 'content-type': type },
          payload,
        });
        // A list of files has no argument that could be missing, and an empty list of servers is a list.
        const isHarmless = status === 200 && (url === '/list_files' || url === '/update_mcp_server');
        expect(isHarmless || (status >= 400 && status < 500), `${url} ${type} ${payload}: ${status}`).toBe(
          true,
        );
      },
    ),
    { numRuns: 500 },
  );
}, 120_000);
