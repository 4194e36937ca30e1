/** You can replace every text of the server, which then says it word for word. */
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Message, readMessages, replaceMessages, speaker, type Text } from '../../../src/compat/messages.js';
import {
  browseObservation,
  downloadObservation,
} from '../../../src/compat/openhands-v0/browse-observation.js';
import { cellObservation, spoken } from '../../../src/compat/openhands-v0/observations.js';
import { defaultMessages } from '../../../src/compat/openhands-v0/openhands-messages.js';
import type { Executor } from '../../../src/protocol/index.js';
import { serve, startServer, type TestServer } from './server.js';

/** Each text is its key and its values, so that an answer shows which message made it. */
const marked = Object.fromEntries(
  Object.entries(defaultMessages).map(([key, text]) => [
    key,
    `‹${key}›${[...text.matchAll(/\{\w+\}/g)].map(([slot]) => slot).join(' ')}`,
  ]),
);
const messages = replaceMessages(defaultMessages, marked, 'the test');
const say = speaker(messages);

const key = 'a-key';
let server: TestServer;
const folder = mkdtempSync(join(tmpdir(), 'messages-'));
beforeAll(() => {
  server = startServer({ messages, noChangeSeconds: 0.05, token: key });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const answers: string[] = [];
async function request(options: InjectOptions, to: TestServer = server): Promise<void> {
  answers.push((await to.request({ headers: { 'x-session-api-key': key }, ...options })).text);
}
const act = (action: string, args: Record<string, unknown>, timeout?: number) =>
  request({
    method: 'POST',
    url: '/execute_action',
    payload: { action: { action, args, ...(timeout === undefined ? {} : { timeout }) } },
  });
const run = (command: string, args: Record<string, unknown> = {}, timeout?: number) =>
  act('run', { command, ...args }, timeout);
const edit = (command: string, path: string, args: Record<string, unknown> = {}) =>
  act('edit', { command, path, ...args });

function put(name: string, content: string | Buffer, size?: number): string {
  const path = server.path(name);
  writeFileSync(path, content);
  if (size !== undefined) truncateSync(path, size);
  return path;
}

test('all of them are said in the words of the catalogue', { timeout: 60_000 }, async () => {
  const text = put('text.txt', 'one\ntwo\ntwo\n');
  const missing = server.path('absent');
  for (const path of [
    put('binary', Buffer.from([0, 1, 2])),
    put('latin', Buffer.from([0x66, 0xfc, 0x72])),
    put('large', '', 70 * 1024 * 1024),
    missing,
    server.directory,
    text,
  ])
    await act('read', { path });
  await act('write', { path: server.path('written'), content: 'x' });

  mkdirSync(server.path('many/.hidden'), { recursive: true });
  for (let index = 0; index < 120; index++) put(`many/${'n'.repeat(200)}${index}`, '');
  await edit('view', 'text.txt');
  await edit('view', 'absent');
  await edit('create', text, { file_text: '' });
  await edit('view', missing);
  await edit('insert', server.directory);
  await edit('str_replace', put('a.pdf', 'x'), { old_str: 'x', new_str: 'y' });
  await edit('view', server.path('a.pdf'));
  await edit('view', put('tall', 'x', 11 * 1024 * 1024));
  await edit('view', server.path('binary'));
  await edit('create', server.path('absent/x'), { file_text: '' });
  await edit('create', missing);
  await edit('turn', text);
  await edit('insert', text, { insert_line: 'x', new_str: '' });
  await edit('insert', text, { insert_line: 9, new_str: '' });
  for (const range of ['x', [9, 10], [2, 1], [1, 9]]) await edit('view', text, { view_range: range });
  await edit('view', server.directory, { view_range: [1, 2] });
  await edit('str_replace', text, { old_str: 'two', new_str: 'two' });
  await edit('str_replace', text, { old_str: 'three', new_str: 'two' });
  await edit('str_replace', text, { old_str: 'two', new_str: 'three' });
  await edit('undo_edit', text);
  await edit('str_replace', text, { old_str: 'one', new_str: '1' });
  await edit('undo_edit', text);
  await edit('create', server.path('fresh'), { file_text: 'x' });
  await edit('view', put('wide', 'x'.repeat(20_000)));
  await edit('view', server.path('many'));

  await run('');
  await run('x', { is_input: true });
  await run('echo a\necho b');
  await run('C-c');
  await run('seq 1 20000');
  await run('seq 1 100000');
  await run('cat');
  await run('echo other', {}, 0.02);
  await run('', {}, 0.02);
  await run('C-c', { is_input: true }, 5);
  await run('exit', {}, 5);

  await request({ method: 'GET', url: '/nowhere' });
  await request({ method: 'POST', url: '/execute_action', payload: {} });
  await request({ method: 'POST', url: '/list_files', payload: {}, headers: {} });
  await request({ method: 'POST', url: '/execute_action', payload: { action: { action: 1 } } });
  await act('fly', {});
  await act('run', { speed: 1 });
  await act('run', { command: ':', confirmation_state: 'rejected' });
  await edit('view', text, { impl_source: 'llm_based_edit' });

  const form = (filename: string, field = 'file') => ({
    headers: { 'x-session-api-key': key, 'content-type': 'multipart/form-data; boundary=b' },
    payload: `--b\r\ncontent-disposition: form-data; name="${field}"; filename="${filename}"\r\n\r\nx\r\n--b--\r\n`,
  });
  const upload = (query: string, filename: string, field?: string) =>
    request({ method: 'POST', url: `/upload_file?${query}`, ...form(filename, field) });
  await upload('destination=here', 'x');
  await upload('destination=/tmp', '..');
  await upload('destination=/tmp&recursive=true', 'x.txt');
  await upload('destination=/tmp', 'x', 'other');
  await request({ url: '/download_files?path=here' });
  await request({ url: `/download_files?path=${missing}` });
  for (const path of ['here', missing, server.directory, text]) await request({ url: `/view?path=${path}` });
  await request({ url: '/view?path=/x', remoteAddress: '192.0.2.1' });
  for (const payload of [{}, [{ name: '?' }], []])
    await request({ method: 'POST', url: '/update_mcp_server', payload });

  // What takes a place that fails, is huge, or has no browser.
  const { actions } = await import('../../../src/protocol/index.js');
  const odd: Partial<Executor> = {
    actions,
    async execute(action) {
      if (action.action === 'list') return { observation: 'list', entries: [], truncated: true } as never;
      if (action.action === 'stat') return { observation: 'stat', type: 'directory' } as never;
      if (action.action === 'run') return { observation: 'run', output: '' } as never;
      throw new TypeError('unexpected');
    },
    close: async () => {},
  };
  await using strange = serve(odd as Executor, join(folder, 'strange'), { messages });
  const strangeAct = (action: string, args: object) =>
    request({ method: 'POST', url: '/execute_action', payload: { action: { action, args } } }, strange);
  await request({ url: '/download_files?path=/many' }, strange);
  await strangeAct('browse', { url: 'about:blank' });
  await strangeAct('browse_interactive', { browser_actions: 'GET_EVAL_GOAL' });
  await strangeAct('read', { path: '/x' });

  const page = {
    url: 'u',
    error: null,
    pages: [],
    screenshot: null,
    marked: null,
    elements: [],
    tree: '',
    text: '',
    focused: null,
    lastAction: '',
    downloads: [],
  };
  const observations = [
    browseObservation(page as never, 'browse', false),
    browseObservation(page as never, 'browse_interactive', false),
    browseObservation(
      { ...page, error: 'e', focused: '1', screenshot: { path: '/p', data: '' } } as never,
      'browse_interactive',
      false,
    ),
    downloadObservation({ ...page, downloads: [{ state: 'completed', path: '/d' }] } as never),
    cellObservation({ code: '', content: '', image_urls: null }),
  ];
  for (const observation of observations)
    if (observation !== undefined) answers.push(JSON.stringify(spoken(observation, say)));
  // Said to a client of MCP, which mcp.test.ts has.
  answers.push(say(new Message('mcp.unknown_tool', { tool: 'x' })));

  const seen = answers.join('\n');
  expect(Object.keys(defaultMessages).filter((name) => !seen.includes(`‹${name}›`))).toEqual([]);
  // No word of the server's own remains: the longest piece of each text between its values.
  const pieces = Object.values(defaultMessages).map((own) =>
    own.split(/\{\w+\}|\n/).reduce((longest, piece) => (piece.length > longest.length ? piece : longest), ''),
  );
  expect(pieces.filter((piece) => piece.length > 12 && seen.includes(piece))).toEqual([]);
});

test('values stand where the text names them, and are not read again', () => {
  const replaced = replaceMessages(defaultMessages, { 'read.not_found': '{{{cwd}}} {path}{path}' }, 'x');
  const text: Text = [
    'a ',
    new Message('read.not_found', { path: '{cwd} $&', cwd: new Message('mcp.none') }),
  ];
  expect(speaker(replaced)(text)).toBe('a {none} {cwd} $&{cwd} $&');
});

test.each([
  ['{"bash.complete": ""}', 'there is no message "bash.complete"'],
  ['{"bash.completed": "{code}"}', 'the message "bash.completed" has no value {code}. It has: {exit_code}'],
  ['{"bash.completed": 1}', 'must be a text'],
  ['["bash.completed"]', 'must be a JSON object'],
  ['{', 'JSON'],
])('%s is refused', (content, reason) => {
  const file = join(folder, 'messages.json');
  writeFileSync(file, content);
  expect(() => readMessages(defaultMessages, file)).toThrow(reason);
  expect(() => readMessages(defaultMessages, join(folder, 'absent.json'))).toThrow('cannot be used');
});
