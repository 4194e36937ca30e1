import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer, type TestServer } from './server.js';

let server: TestServer;
beforeAll(() => {
  server = startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const edit = (command: string, path: string, args: Record<string, unknown> = {}) =>
  server.act('edit', { command, path, ...args });
const view = (path: string, view_range?: unknown) =>
  server.act('read', { path, impl_source: 'oh_aci', ...(view_range !== undefined && { view_range }) });
const put = (name: string, content: string | Buffer) => {
  writeFileSync(server.path(name), content);
  return server.path(name);
};

describe('common checks', () => {
  test('a failure is an edit observation whose content starts with ERROR: and whose diff is empty', async () => {
    expect(await edit('str_replace', '/does/not/exist', { old_str: 'a', new_str: 'b' })).toEqual({
      observation: 'edit',
      content: expect.stringMatching(/^ERROR:\nThe path \/does\/not\/exist does not exist/),
      extras: {
        path: '/does/not/exist',
        prev_exist: false,
        old_content: 'a',
        new_content: 'b',
        impl_source: 'oh_aci',
        diff: '',
        _diff_cache: null,
      },
      message: expect.any(String),
    });
  });

  test('each check has its words', async () => {
    const file = put('checked', 'text\n');
    put('blob', Buffer.from([0, 1, 2]));
    put('report.pdf', '%PDF-');
    put('large', Buffer.alloc(10 * 1024 * 1024 + 1, 'x'));
    mkdirSync(server.path('folder'));
    const cases = [
      ['view', 'checked', {}, new RegExp(`not absolute.*${file}`)],
      ['view', 'nowhere', {}, /not absolute; it must start with "\/"\.$/],
      ['create', file, { file_text: 'x' }, /exists already/],
      ['view', server.path('nowhere'), {}, /does not exist/],
      ['insert', server.path('folder'), { insert_line: 0, new_str: 'x' }, /is a directory/],
      ['insert', server.path('report.pdf'), { insert_line: 0, new_str: 'x' }, /document/],
      ['view', server.path('report.pdf'), {}, /no converter/],
      ['view', server.path('large'), {}, /larger than 10 MB/],
      ['view', server.path('blob'), {}, /binary file/],
      ['rename', file, {}, /Unknown command "rename".*view, create, str_replace, insert, undo_edit/],
      ['', file, {}, /Unknown command ""/],
      ['create', server.path('new'), {}, /`file_text` is required for create/],
      ['create', server.path('no/parent'), { file_text: '' }, /directory of .* does not exist/],
      ['str_replace', file, { new_str: 'x' }, /`old_str` is required for str_replace/],
      ['insert', file, { new_str: 'x' }, /`insert_line` is required for insert/],
      ['insert', file, { insert_line: 0 }, /`new_str` is required for insert/],
      ['insert', file, { insert_line: 'two', new_str: 'x' }, /`insert_line`: "two".*integer/],
      ['insert', file, { insert_line: 2, new_str: 'x' }, /\[0, 1\]/],
      ['insert', file, { insert_line: -1, new_str: 'x' }, /\[0, 1\]/],
      ['str_replace', file, { old_str: 'text', new_str: 'text' }, /are the same/],
      ['str_replace', file, { old_str: 'absent', new_str: 'x' }, /`absent` is not in/],
      ['undo_edit', file, {}, /no edit of .* to undo/],
    ] as const;
    for (const [command, path, args, words] of cases) {
      const { content } = await edit(command, path, args);
      expect(content.startsWith('ERROR:\n'), `${command} ${path}: ${content}`).toBe(true);
      expect(content).toMatch(words);
    }
    expect(readFileSync(file, 'utf8')).toBe('text\n');
  });
});

describe('view', () => {
  test('numbers in six columns, a tab, the line; as a read observation that names the given path', async () => {
    const path = put('viewed', 'one\ntwo');
    expect(await view(path)).toEqual({
      observation: 'read',
      content: expect.stringMatching(/:\n {5}1\tone\n {5}2\ttwo\n$/),
      extras: { path, impl_source: 'oh_aci' },
      message: expect.any(String),
    });
    expect((await edit('view', path)).content).toBe((await view(path)).content);
  });

  test.each([
    [[2, 3], /:\n {5}2\tb\n {5}3\tc\n$/],
    [[3, -1], /:\n {5}3\tc\n {5}4\td\n$/],
    [[4, 9], /^NOTE: .*9.*4 lines[\s\S]*:\n {5}4\td\n$/],
    [[0, 2], /^ERROR:\n.*\[1, 4\]/],
    [[5, 6], /^ERROR:\n.*\[1, 4\]/],
    [[3, 2], /^ERROR:\n.*-1 or at least the first one, which is 3/],
    [[1], /^ERROR:\n.*two integers/],
    [[1, 2.5], /^ERROR:\n.*two integers/],
    ['1-2', /^ERROR:\n.*two integers/],
  ])('the range %j', async (range, words) => {
    expect((await view(put('ranged', 'a\nb\nc\nd\n'), range)).content).toMatch(words);
  });

  test('a directory two levels deep, without hidden entries, which are counted', async () => {
    const base = server.path('tree');
    mkdirSync(`${base}/b/c/d`, { recursive: true });
    mkdirSync(`${base}/.git`);
    for (const name of ['a.txt', 'b/x', 'b/.secret', 'b/c/deep', '.env', '.git/config'])
      writeFileSync(`${base}/${name}`, '');
    symlinkSync('b', `${base}/link`);
    const { content } = await view(base);
    const listed = content.split('\n').filter((line) => line.startsWith(base));
    expect(listed).toEqual([
      `${base}/`,
      ...['a.txt', 'b/', 'b/c/', 'b/x', 'link/'].map((name) => `${base}/${name}`),
    ]);
    expect(content).toMatch(/\n\n2 hidden entries/);
    expect((await view(base, [1, 2])).content).toMatch(/^ERROR:\n.*view_range/);
  });

  test('long output is clipped at 16,000 characters with advice', async () => {
    const { content } = await view(put('long', 'x'.repeat(79).concat('\n').repeat(1000)));
    const [shown = ''] = content.split('<response clipped>');
    expect(shown.slice(shown.indexOf('\n') + 1)).toHaveLength(16_000);
    expect(content).toMatch(/view_range/);
  });

  test('a binary file is an error observation; a relative path is an error in the content', async () => {
    put('binary', Buffer.from([0]));
    expect(await view(server.path('binary'))).toMatchObject({
      observation: 'error',
      content: 'ERROR_BINARY_FILE',
    });
    expect((await view('viewed')).content).toMatch(/^ERROR:\n.*not absolute/);
  });
});

describe('changes', () => {
  test('create writes as it is and has the whole file as diff', async () => {
    const path = server.path('created');
    const { content, extras } = await edit('create', path, { file_text: 'a\nb' });
    expect(content).toBe(`File created at: ${path}`);
    expect(extras.diff).toBe(`--- ${path}\n+++ ${path}\n@@ -1 +1,2 @@\n-\n+a\n+b`);
    expect(readFileSync(path, 'utf8')).toBe('a\nb');
  });

  test('str_replace shows four lines around the change and a diff without context', async () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`);
    const path = put('replaced', `${lines.join('\n')}\n`);
    const { content, extras } = await edit('str_replace', path, {
      old_str: 'line 10',
      new_str: 'ten\nand a half',
    });
    expect(content.startsWith(`The file ${path} was edited. `)).toBe(true);
    expect(content).toMatch(
      /:\n {5}6\tline 6\n[\s\S]* {4}10\tten\n {4}11\tand a half\n[\s\S]* {4}15\tline 14\nReview/,
    );
    expect(content).not.toMatch(/line 5|line 15/);
    expect(extras).toMatchObject({
      old_content: 'line 10',
      new_content: 'ten\nand a half',
      diff: `--- ${path}\n+++ ${path}\n@@ -10 +10,2 @@\n-line 10\n+ten\n+and a half`,
    });
  });

  test('a null new_str removes; blanks around the text are left aside when it is not found with them', async () => {
    const path = put('removed', 'keep drop keep2\n');
    await edit('str_replace', path, { old_str: ' drop' });
    expect(readFileSync(path, 'utf8')).toBe('keep keep2\n');
    await edit('str_replace', path, { old_str: '\n  keep2  \n', new_str: '  kept ' });
    expect(readFileSync(path, 'utf8')).toBe('keep kept\n');
  });

  test('several places are refused with their distinct lines', async () => {
    const path = put('several', 'x x\ny\nx\n');
    const { content } = await edit('str_replace', path, { old_str: 'x', new_str: 'z' });
    expect(content).toMatch(/^ERROR:\n.*lines \[1, 3\]/);
    expect(readFileSync(path, 'utf8')).toBe('x x\ny\nx\n');
  });

  test.each([
    [0, 'new', 'new\na\nb'],
    [1, 'new\n', 'a\nnew\n\nb'],
    [2, 'new', 'a\nb\nnew\n'],
    ['1', 'new', 'a\nnew\nb'],
  ])('insert after line %j of %j', async (insert_line, new_str, after) => {
    const path = put('inserted', 'a\nb');
    const { content } = await edit('insert', path, { insert_line, new_str });
    expect(content).toMatch(/\tnew\n/);
    expect(readFileSync(path, 'utf8')).toBe(after);
  });

  test('undo takes changes back one by one, ten at most, and shows the whole file', async () => {
    const path = server.path('undone');
    await edit('create', path, { file_text: 'v0\n' });
    for (let step = 0; step < 12; step++)
      await edit('str_replace', path, { old_str: `v${step}`, new_str: `v${step + 1}` });
    const first = await edit('undo_edit', path);
    expect(first.content).toMatch(/was undone\. [\s\S]*:\n {5}1\tv11\n$/);
    expect(first.extras.diff).toBe(`--- ${path}\n+++ ${path}\n@@ -1 +1 @@\n-v12\n+v11`);
    for (let step = 0; step < 9; step++) await edit('undo_edit', path);
    expect(readFileSync(path, 'utf8')).toBe('v2\n');
    expect((await edit('undo_edit', path)).content).toMatch(/^ERROR:\nThere is no edit/);
  });

  test('a file keeps its encoding', async () => {
    const path = put('latin1', Buffer.from('f\xfcr alle\n', 'latin1'));
    await edit('str_replace', path, { old_str: 'alle', new_str: 'k\xf6nig' });
    expect(readFileSync(path)).toEqual(Buffer.from('f\xfcr k\xf6nig\n', 'latin1'));
  });

  test("edits by a language model are the client's", async () => {
    const observation = await server.act('edit', {
      path: server.path('x'),
      content: 'x',
      impl_source: 'llm_based_edit',
    });
    expect(observation.observation).toBe('error');
    expect(existsSync(server.path('x'))).toBe(false);
  });
});

test('files of nothing but line ends are changed, shown and restored in turns', async () => {
  const before = `${'\n'.repeat(9 * 1024 * 1024)}end\n`;
  const path = put('long', before);
  let turns = 0;
  const counting = setInterval(() => turns++, 1);
  const answers = [
    await edit('str_replace', path, { old_str: 'end', new_str: 'fin' }),
    await edit('str_replace', path, { old_str: '\n', new_str: 'x' }),
    await view(path, [9 * 1024 * 1024, -1]),
    await edit('undo_edit', path),
  ];
  clearInterval(counting);
  expect(answers[0]).toMatchObject({ extras: { diff: expect.stringMatching(/\n-end\n\+fin$/) } });
  expect(answers[1]).toMatchObject({ content: expect.stringMatching(/1, 2, 3, .* 100, …/) });
  expect(answers[2]).toMatchObject({ content: expect.stringMatching(/9437184\t\n9437185\tfin/) });
  expect(readFileSync(path, 'utf8') === before).toBe(true);
  expect(turns).toBeGreaterThan(20);
});
