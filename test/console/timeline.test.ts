/** What the console makes of events, without a browser. */
import { expect, test } from 'vitest';
import { align, differs } from '../../console/src/align.js';
import { changesOfCommands } from '../../console/src/command-changes.js';
import { asciicast, htmlPage } from '../../console/src/exports.js';
import { decisive, fileAfter, patched } from '../../console/src/file-moments.js';
import { type Entry, Timeline } from '../../console/src/timeline.js';
import { firstLine, pieces, screenText, visible } from '../../console/src/visible.js';
import type { WorkcellEvent } from '../../src/protocol/index.js';

const base = { at: 1_700_000_000_000, runtimeId: 'r', source: 'agent' as const };
const hostile = '</pre><script>alert(1)</script>\u202egnp.exe\u202c\u200b\u001b]0;title\u0007';

const events: WorkcellEvent[] = [
  { ...base, id: 1, kind: 'action', action: { action: 'run', command: `echo ${hostile}` } },
  { ...base, id: 2, kind: 'action', action: { action: 'read', path: 'missing' } },
  { ...base, id: 3, kind: 'error', cause: 2, error: { code: 'not-found', message: 'It is not there.' } },
  {
    ...base,
    id: 4,
    at: base.at + 2000,
    kind: 'observation',
    cause: 1,
    observation: { observation: 'run', output: `${hostile}\n`, exitCode: 3, signal: null, endedBy: 'exit' },
  },
  { ...base, id: 5, kind: 'action', action: { action: 'run', command: 'sleep 9' } },
  {
    ...base,
    id: 6,
    kind: 'status',
    status: { status: 'STOPPED', level: 'info', message: 'Cell r was stopped.' },
  },
];

test('an entry has the outcome of its action, also when others come between', () => {
  const timeline = new Timeline();
  timeline.push(events);
  // A stream that begins again tells what is known already.
  timeline.push(events.slice(2));
  expect(timeline.entries.map(({ id, outcome, ending }) => [id, outcome, ending])).toEqual([
    [1, 'failed', 'exit 3'],
    [2, 'failed', 'not-found'],
    [5, 'failed', 'stopped'],
    [6, 'ok', undefined],
  ]);
  expect(timeline.find(4)?.id).toBe(1);
  expect(timeline.find(3)?.id).toBe(2);
  expect(timeline.ended).toBe(true);
});

test('characters that deceive are shown by their names, and others stay as they are', () => {
  expect(visible('a\u202eb\u200bc\u001b[0m\u0000')).toBe('aU+202EbU+200BcESC[0mU+0000');
  expect(visible('tab\there\r\nnext ünï 漢字 👍🏽 ❤️ مرحبا')).toBe('tab\there\r\nnext ünï 漢字 👍🏽 ❤️ مرحبا');
  expect(pieces('\ud800')).toEqual([{ text: 'U+D800', mark: true }]);
  expect(firstLine(`${'x'.repeat(10_000_000)}\nmore`)).toHaveLength(241);
  expect(firstLine('\n\n one\ntwo')).toBe('one …');
});

test('a page of a record has no markup of the record', () => {
  const page = htmlPage('<b>id</b>', events);
  expect(page).not.toMatch(/<script|<b>id|<\/pre><script|\u202e|\u200b|\u001b/);
  expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(page).toContain("default-src 'none'");
});

test('a terminal recording has each command and its output at its time', () => {
  const [head, ...lines] = asciicast(events)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  expect(head).toMatchObject({ version: 2, timestamp: 1_700_000_000 });
  expect(lines[0]).toEqual([0, 'o', `$ echo ${hostile}\r\n`]);
  // Players want them in order.
  expect(lines.at(-1)).toEqual([2, 'o', `${hostile}\r\n`]);
});

test('a terminal recording shows output when it came, as far as the record knows', () => {
  const output = Array.from({ length: 100 }, (_, line) => `line ${line}\n`).join('');
  const mark = (id: number, seconds: number, outputBytes: number): WorkcellEvent => ({
    ...base,
    id,
    at: base.at + 1000 * seconds,
    kind: 'progress',
    cause: 1,
    progress: { pieces: id, outputBytes },
  });
  const lines = asciicast([
    { ...base, id: 1, kind: 'action', action: { action: 'run', command: 'slow' } },
    mark(2, 10, output.length / 4),
    mark(3, 20, output.length / 2),
    {
      ...base,
      id: 4,
      at: base.at + 40_000,
      kind: 'observation',
      cause: 1,
      observation: { observation: 'run', output, truncated: true },
    },
  ])
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line) as [number, string, string]);
  expect(lines.map(([at]) => at)).toEqual([0, 10, 20, 40, 40]);
  expect(lines[1]?.[2]).toMatch(/^line 0\r\n[\s\S]*line 2\d\r\n$/);
  expect(lines.map(([, , text]) => text).join('')).toBe(
    `$ slow\n${output}[The record has the head and the tail of this output.]\n`.replaceAll('\n', '\r\n'),
  );
});

test('what runs shows the newest of its output, without bound for marks and without terminal sequences', () => {
  const timeline = new Timeline();
  timeline.push([{ ...base, id: 1, kind: 'action', action: { action: 'run', command: 'slow' } }]);
  timeline.push([
    { kind: 'output', cause: 1, text: 'x'.repeat(70_000) },
    { kind: 'output', cause: 1, text: 'the end' },
    { kind: 'output', cause: 99, text: 'of nobody' },
  ]);
  const [entry] = timeline.entries;
  expect(entry?.live).toHaveLength(64 * 1024);
  expect(entry?.live?.endsWith('xthe end')).toBe(true);
  timeline.push([{ kind: 'output', cause: 1, text: 'later', skipped: 5 }]);
  expect(entry?.live).toBe('later');
  for (let id = 2; id < 5000; id++)
    timeline.push([{ ...base, id, kind: 'progress', cause: 1, progress: { pieces: id, outputBytes: id } }]);
  expect(entry?.events).toEqual([1]);
  expect(screenText('\u001b[1;31mred\u001b[0m\u001b]0;title\u0007 10%\r 20%\r\nnext\u001b[K')).toBe(
    ' 20%\nnext',
  );
  expect(screenText(`a\u001b]8;;javascript:alert(1)\u001b\\b`)).toBe('ab');
});

test('two runs stand side by side by what they did', () => {
  const runs = [
    ['make', 'ls', 'test'],
    ['make', 'test', 'deploy'],
  ].map((commands, run) => {
    const timeline = new Timeline();
    commands.forEach((command, index) => {
      const id = 2 * index + 1;
      timeline.push([
        { ...base, id, kind: 'action', action: { action: 'run', command } },
        {
          ...base,
          id: id + 1,
          kind: 'observation',
          cause: id,
          observation: { observation: 'run', output: command === 'test' ? `run ${run}` : '', exitCode: 0 },
        },
      ]);
    });
    return timeline.entries;
  });
  const pairs = align(runs[0] ?? [], runs[1] ?? []);
  expect(pairs.map(({ before, after }) => [before?.title, after?.title])).toEqual([
    ['make', 'make'],
    ['ls', undefined],
    ['test', 'test'],
    [undefined, 'deploy'],
  ]);
  expect(pairs.map(differs)).toEqual([false, true, true, true]);
  expect(align([], [])).toEqual([]);
});

test('old entries of a long record keep what their line needs, and details come from the record', () => {
  const timeline = new Timeline({ whole: 2 });
  for (let id = 1; id < 8; id += 2)
    timeline.push([
      { ...base, id, kind: 'action', action: { action: 'run', command: `step ${id}` } },
      {
        ...base,
        id: id + 1,
        kind: 'observation',
        cause: id,
        observation: { observation: 'run', output: 'x'.repeat(2000), exitCode: 3, screenshot: { data: 'x' } },
      },
    ]);
  const lengths = timeline.entries.map(({ observation }) => String(observation?.output).length);
  expect(lengths).toEqual([200, 200, 2000, 2000]);
  expect(timeline.entries.map(({ trimmed }) => trimmed)).toEqual([[2], [4], [], []]);
  expect(timeline.entries[0]).toMatchObject({ ending: 'exit 3', observation: { screenshot: {} } });
});

/** What is in a file after each of these actions. */
function contentsOf(path: string, steps: readonly (readonly [object, object?])[]) {
  const timeline = new Timeline();
  const at = (index: number) => ({ ...base, id: 2 * index + 1 });
  timeline.push(
    steps.flatMap(([action, observation = {}], index) => [
      { ...at(index), kind: 'action', action: action as { action: string } },
      {
        ...at(index),
        id: 2 * index + 2,
        kind: 'observation',
        cause: 2 * index + 1,
        observation: { observation: 'done', ...observation },
      },
    ]),
  );
  return steps.map((_, index) => {
    const entries = decisive(timeline.entries, { path, root: '/work' }, 2 * index + 1);
    const moment = fileAfter(
      entries.map(({ name, action = {}, observation = {} }) => ({ name, action, observation })),
      { path, root: '/work' },
    );
    return 'content' in moment ? moment.content : undefined;
  });
}

test('a file at a moment is what the actions before it left, and nothing where a command came between', () => {
  const edit = (diff: string) => [{ action: 'edit', path: 'a' }, { diff }] as const;
  expect(
    contentsOf('a', [
      [{ action: 'write', path: 'b', content: 'other' }],
      edit('--- a\n+++ b\n@@ -1 +1 @@\n-one\n+two\n'),
      [{ action: 'write', path: 'a', content: 'one\nlast\n' }],
      edit('--- a\n+++ b\n@@ -1,2 +1,3 @@\n-one\n+two\n+three\n last\n'),
      edit('--- a\n+++ b\n@@ -0,0 +1 @@\n+first\n'),
      [{ action: 'write', path: 'a', content: 'more\n', append: true }],
      edit('--- a\n+++ b\n@@ -1 +1 @@\n-made by a command\n+x\n'),
      [
        { action: 'read', path: 'a', startLine: 1 },
        { content: 'a part', encoding: 'utf8' },
      ],
      [
        { action: 'read', path: 'a' },
        { content: 'x\n', encoding: 'utf8' },
      ],
      [{ action: 'move', from: 'a', to: 'c' }],
    ]),
  ).toEqual([
    undefined,
    undefined,
    'one\nlast\n',
    'two\nthree\nlast\n',
    'first\ntwo\nthree\nlast\n',
    'first\ntwo\nthree\nlast\nmore\n',
    undefined,
    undefined,
    'x\n',
    undefined,
  ]);
  expect(patched('a\nb\nc\nd', '@@ -2 +2 @@\n-b\n+B\n@@ -4 +4 @@\n-d\n+D\n')).toBe('a\nB\nc\nD');
  expect(patched('a', 'no diff')).toBeUndefined();
  expect(patched('a', '@@ -9 +9 @@\n-b\n+c\n')).toBeUndefined();
});

test('a file is the same however an action names it', () => {
  const write = (path: string, content: string) => [{ action: 'write', path, content }] as const;
  const diff = '--- a\n+++ b\n@@ -1 +1 @@\n-new\n+newer\n';
  expect(
    contentsOf('b/a', [
      write('b/a', 'old'),
      write('./b//a', 'new'),
      [{ action: 'edit', path: '/work/b/./a' }, { diff }],
      write('/b/a', 'another'),
      [{ action: 'remove', path: './b/a' }],
    ]),
  ).toEqual(['old', 'new', 'newer', 'newer', undefined]);
});

test('a file of very many lines is patched', () => {
  const lines = Array.from({ length: 300_000 }, (_, index) => index);
  const made = patched(lines.join('\n'), '@@ -300000 +300000 @@\n-299999\n+last\n');
  expect(made?.endsWith('\n299998\nlast')).toBe(true);
  expect(made?.split('\n').length).toBe(300_000);
});

test('many files and many entries are not compared with each other one by one', () => {
  const count = 4000;
  let asked = 0;
  // A server runs all the time, so that each file was changed during two commands.
  const entries = Array.from({ length: count }, (_, index) => {
    const isAction = index % 2 === 1;
    const entry = { id: index, at: index * 10, group: isAction ? 'file' : 'command', outcome: 'ok' };
    const action = isAction ? { path: `./${index}/a.ts` } : {};
    return {
      ...{ ...entry, action },
      get endedAt() {
        asked++;
        return index === 0 ? count * 10 : index * 10 + 5;
      },
    } as Entry;
  });
  const files = Array.from({ length: count }, (_, index) => ({
    ...{ name: 'a.ts', path: `/work/${index}/a.ts`, type: 'file' as const, sizeBytes: 1, mode: 0o644 },
    modifiedAt: index * 10 + (index % 4 === 0 ? 1 : 3),
  }));
  const found = changesOfCommands(entries, files, count * 10);
  expect(found.flatMap((each) => each.files).length).toBe(count / 2);
  expect(found.every(({ command, files: [file] }) => file?.path === `/work/${command.id}/a.ts`)).toBe(true);
  expect(asked).toBeLessThan(10 * count);
});

test('a file belongs to the command that ran when it was last changed', () => {
  const command = (id: number, at: number, endedAt?: number) =>
    ({ id, at, group: 'command', outcome: 'ok', ...(endedAt !== undefined && { endedAt }) }) as Entry;
  const entries = [
    command(1, 1000, 1900),
    command(5, 1905, 1906),
    command(2, 2000, 3000),
    command(3, 8000),
    { ...command(4, 8500, 8600), group: 'file', action: { path: './by/action' } } as Entry,
  ];
  const file = (path: string, modifiedAt: number, type = 'file' as const) => ({
    ...{ name: path, path, type, sizeBytes: 1, mode: 0o644, modifiedAt },
  });
  const files = [
    file('before', 500),
    file('one', 1500),
    file('two', 2500),
    file('tick', 1995),
    file('edge', 1898),
  ];
  const more = [
    file('/workspace/by/action', 8550),
    file('four', 8550),
    file('late', 9999),
    file('.git/index', 2500),
  ];
  expect(
    changesOfCommands(entries, [...files, ...more], 9500).map(({ command: { id }, files: changed }) => [
      id,
      ...changed.map(({ path }) => path),
    ]),
  ).toEqual([
    [3, 'four'],
    [2, 'two', 'tick'],
    [1, 'one', 'edge'],
  ]);
});
