/** Edits by drafts, which a model applies: an endpoint of this machine with answers of the test. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { start, withDirectory } from '../../cli/workcell.js';
import { type DraftEndpoint, startEndpoint, updated } from './draft-endpoint.js';
import { startServer, type TestServer } from './server.js';

let endpoint: DraftEndpoint;
let server: TestServer;
beforeAll(async () => {
  endpoint = await startEndpoint();
  const { baseUrl } = endpoint;
  server = startServer({ draftModel: { baseUrl, model: 'draft', apiKey: 'the-key-of-the-editor' } });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  endpoint.close();
});
beforeEach(() => {
  endpoint.asked.length = 0;
  endpoint.answers.length = 0;
});

const edit = (path: string, content: string, range: { start?: number; end?: number } = {}, to = server) =>
  to.act('edit', { path, content, impl_source: 'llm_based_edit', ...range });
const put = (name: string, content: string): string => {
  writeFileSync(server.path(name), content);
  return server.path(name);
};

test('a file that is not there becomes the draft', async () => {
  const path = server.path('fresh.py');
  expect(await edit(path, '\nprint(1)\n')).toMatchObject({
    observation: 'edit',
    extras: {
      path,
      prev_exist: false,
      impl_source: 'llm_based_edit',
      old_content: '',
      new_content: 'print(1)',
    },
  });
  expect(readFileSync(path, 'utf8')).toBe('print(1)');
  expect(endpoint.asked).toEqual([]);
});

test('the model gets the lines and the draft, and its answer takes their place', async () => {
  const path = put('code.py', 'import a\ndef f():\n    one()\n    two()\nend = 1\n');
  const draft = 'def f():\n    # ... existing code ...\n    three()\n';
  endpoint.answers.push(updated('#EDIT: as asked\ndef f():\n    one()\n    two()\n    three()\n'));
  const after = 'import a\ndef f():\n    one()\n    two()\n    three()\nend = 1\n';
  const { content, extras } = await edit(path, draft, { start: 2, end: 4 });
  expect(extras).toMatchObject({ prev_exist: true, new_content: after, diff: content });
  expect(content).toMatch(/^@@ -\d+,\d+ \+2,6 @@\n def f\(\):\n/m);
  expect(content).toContain('\n+    three()\n');
  expect(readFileSync(path, 'utf8')).toBe(after);
  expect(endpoint.asked).toMatchObject([{ authorization: 'Bearer the-key-of-the-editor', model: 'draft' }]);
  const question = endpoint.asked[0]?.messages.at(-1)?.content;
  expect(question).toContain('def f():\n    one()\n    two()\n');
  expect(question).toContain(draft);
  expect(question).not.toContain('import a');
});

test('the whole file without a range, and no model to append', async () => {
  const path = put('whole.txt', 'one\ntwo');
  endpoint.answers.push(updated('ONE\n'));
  await edit(path, 'ONE');
  expect(readFileSync(path, 'utf8')).toBe('ONE\n');
  await edit(put('whole.txt', 'one'), 'two\n', { start: -1 });
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
  expect(endpoint.asked).toHaveLength(1);
});

test.each([
  [0, 2],
  [2, 1],
  [1, 4],
  [4, -1],
])('lines %i to %i of three are refused with those that there are', async (first, last) => {
  const path = put('three.txt', '1\n2\n3\n');
  const { observation, content } = await edit(path, 'x', { start: first, end: last });
  expect(observation).toBe('error');
  expect(content).toContain('[1, 3]');
  expect(endpoint.asked).toEqual([]);
});

test('too many lines are refused with the parts that are most like the draft', async () => {
  const lines = Array.from({ length: 400 }, (_, index) => `line ${index + 1}`);
  const path = put('long.txt', `${lines.join('\n')}\n`);
  const { observation, content } = await edit(path, 'line 205\nline 206\nother');
  expect(observation).toBe('error');
  expect(content).toContain('301');
  const [, first, last] = /\(lines (\d+) to (\d+)\)\n(?:line \d+\n)*line 205\nline 206\n/.exec(content) ?? [];
  expect(Number(last) - Number(first)).toBe(19);
  expect(content.match(/\(lines \d+ to \d+\)/g)).toHaveLength(3);
});

test('three tries, then an error, and the file is as it was', async () => {
  const path = put('kept.txt', 'one\n');
  endpoint.answers.push('no code', 500, updated('two\n'));
  expect(await edit(path, 'two')).toMatchObject({ observation: 'edit' });
  expect(endpoint.asked).toHaveLength(3);
  endpoint.answers.push(500, 302, 'none of it', updated('never asked\n'));
  const { observation, content } = await edit(path, 'three');
  expect(observation).toBe('error');
  expect(content).toContain('updated_code');
  expect(endpoint.asked).toHaveLength(6);
  expect(readFileSync(path, 'utf8')).toBe('two\n');
});

test('without a model the answer says how to name one', async () => {
  await using bare = startServer();
  const { observation, content } = await edit('/x', 'y', {}, bare);
  expect(observation).toBe('error');
  expect(content).toContain('openhands.llm_editor');
});

test('the configuration names the model, whose key no answer shows', () =>
  withDirectory(async (folder) => {
    const config = join(folder, 'workcell.toml');
    writeFileSync(
      config,
      `[openhands.llm_editor]\nbase_url = "${endpoint.baseUrl}"\nmodel = "named"\napi_key = { env = "EDITOR_KEY" }\n`,
    );
    const words = ['openhands-server', '0', '--working-dir', join(folder, 'work'), '--config', config];
    const env = { EDITOR_KEY: 'the-key-of-the-editor', SESSION_API_KEY: 'a-key' };
    const running = start([...words, '--no-enable-browser'], { env, cwd: folder });
    try {
      await running.printed('listening on ');
      const url = /listening on (\S+)/.exec(running.text())?.[1];
      const act = async (action: string, args: object) => {
        const answer = await fetch(`${url}/execute_action`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-session-api-key': 'a-key' },
          body: JSON.stringify({ action: { action, args } }),
        });
        return (await answer.json()) as { observation: string; content: string };
      };
      const path = join(folder, 'work/file.txt');
      writeFileSync(path, 'one\n');
      endpoint.answers.push(updated('two\n'));
      const draft = { path, content: 'two', impl_source: 'llm_based_edit' };
      expect(await act('edit', draft)).toMatchObject({ observation: 'edit' });
      expect(endpoint.asked).toMatchObject([
        { authorization: 'Bearer the-key-of-the-editor', model: 'named' },
      ]);
      const { content } = await act('run', { command: 'cat file.txt; echo the-key-of-the-"editor"' });
      expect(content).toMatch(/^two\n/);
      expect(content).not.toContain('the-key-of-the-editor');
    } finally {
      running.child.kill('SIGTERM');
      await running.ended;
    }
  }));
