/** Mistakes of form that an edit brings, found by the tools of the cell. */
import { writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type DraftEndpoint, startEndpoint, updated } from './draft-endpoint.js';
import { startServer, type TestServer } from './server.js';

let endpoint: DraftEndpoint;
let server: TestServer;
beforeAll(async () => {
  endpoint = await startEndpoint();
  server = startServer({ lints: true, draftModel: { baseUrl: endpoint.baseUrl, model: 'draft' } });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  endpoint.close();
});
afterEach(() => {
  endpoint.answers.length = 0;
});

const put = (name: string, content: string): string => {
  writeFileSync(server.path(name), content);
  return server.path(name);
};
const replace = (path: string, oldText: string, newText: string, to = server) =>
  to.act('edit', { command: 'str_replace', path, old_str: oldText, new_str: newText });
const mistakesIn = (content: string) => /\[The change brings[\s\S]*?\n\]/.exec(content)?.[0];

test.each([
  ['a.py', 'x = 1\ny = 2\n', 'y = 2', 'y = (', /line 2: SyntaxError: /],
  ['a.json', '{\n"a": 1\n}\n', '1', '1,,', /line 2: Expecting property name/],
  ['a.toml', 'a = 1\nb = 2\n', '2', '', /line 2: Invalid value/],
  ['a.yaml', 'a: 1\nb: 2\n', 'b: 2', 'b: [', /line \d: /],
  ['a.cjs', 'const a = 1;\nconst b = 2;\n', '2;', '(;', /line 2: SyntaxError: /],
  ['a.mjs', 'import a from "a";\nexport const b = 2;\n', '2;', '(;', /line 2: SyntaxError: /],
  ['a.js', 'import a from "a";\nexport const b = 2;\n', '2;', '(;', /line 2: SyntaxError: /],
  ['a.sh', 'if true; then\n  echo a\nfi\n', 'fi', 'f', /line \d: syntax error/],
])('%s', async (name, before, oldText, newText, expected) => {
  const path = put(name, before);
  const fine = await replace(path, oldText, `${oldText} `);
  expect(mistakesIn(fine.content)).toBeUndefined();
  const { observation, content } = await replace(path, `${oldText} `, newText);
  expect(observation).toBe('edit');
  expect(mistakesIn(content)).toMatch(expected);
});

test('a mistake that was there before is not told again, wherever its line is now', async () => {
  const path = put('old.py', 'a = 1\nb = (\n');
  expect(mistakesIn((await replace(path, 'a = 1', 'a = 1\nc = 1\nd = 1')).content)).toBeUndefined();
  expect(mistakesIn((await replace(path, 'c = 1', 'c = ]')).content)).toMatch(/line 2: .*unmatched/);
});

test('a fresh file and a draft are checked too; a file of another kind is not', async () => {
  const path = server.path('fresh.py');
  const created = await server.act('edit', { command: 'create', path, file_text: 'x = (\n' });
  expect(mistakesIn(created.content)).toContain('line 1: ');
  endpoint.answers.push(updated('y = ]\n'));
  const drafted = await server.act('edit', { path, content: 'y = ]', impl_source: 'llm_based_edit' });
  expect(mistakesIn(drafted.content)).toContain('line 1: ');
  const text = await replace(put('a.txt', 'one'), 'one', '(');
  expect(mistakesIn(text.content)).toBeUndefined();
});

test('a long text is not checked', async () => {
  const filler = `# ${'x'.repeat(1021)}\n`;
  const long = put('long.py', `${filler.repeat(256)}y = 2\n`);
  expect(mistakesIn((await replace(long, 'y = 2', 'y = (')).content)).toBeUndefined();
  const shorter = put('shorter.py', `${filler.repeat(255)}y = 2\n`);
  expect(mistakesIn((await replace(shorter, 'y = 2', 'y = (')).content)).toContain('line 256: ');
});

test('nothing is checked unless the owner asks for it', async () => {
  await using quiet = startServer();
  writeFileSync(quiet.path('a.py'), 'x = 1\n');
  const { content } = await replace(quiet.path('a.py'), '1', '(', quiet);
  expect(mistakesIn(content)).toBeUndefined();
});
