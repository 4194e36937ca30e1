/** What the console makes of events, without a browser. */
import { expect, test } from 'vitest';
import { asciicast, htmlPage } from '../../console/src/exports.js';
import { Timeline } from '../../console/src/timeline.js';
import { firstLine, pieces, visible } from '../../console/src/visible.js';
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
  expect(lines.at(1)).toEqual([2, 'o', `${hostile}\r\n`]);
});
