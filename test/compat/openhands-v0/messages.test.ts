/** You can replace every text of the server, which then says it word for word. */
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { browserActions } from '../../../src/cell/plugins/browser/browser-actions.js';
import { type CodePart, jupyterActions } from '../../../src/cell/plugins/jupyter/jupyter-actions.js';
import { Message, readMessages, replaceMessages, speaker, type Text } from '../../../src/compat/messages.js';
import { defaultMessages } from '../../../src/compat/openhands-v0/openhands-messages.js';
import {
  actions,
  type ErrorCode,
  type Executor,
  errorCodes,
  WorkcellError,
} from '../../../src/protocol/index.js';
import { startEndpoint } from './draft-endpoint.js';
import { serve, startServer, type TestServer } from './server.js';

/** Each text is its key and its values, so that an answer shows which message made it. */
const marked = Object.fromEntries(
  Object.entries(defaultMessages).map(([key, text]) => [
    key,
    // What a layer below says is the whole of some texts, and can be left out.
    `‹${key}›${/^\{\w+\}$/.test(text) ? '' : [...text.matchAll(/\{\w+\}/g)].map(([slot]) => slot).join(' ')}`,
  ]),
);
const messages = replaceMessages(defaultMessages, marked, 'the test');

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
  for (const path of ['here', missing, server.directory, text, put('a.png', 'x')])
    await request({ url: `/view?path=${path}` });
  await request({ url: '/view?path=/x', remoteAddress: '192.0.2.1' });
  const unfinished = { ...form('x'), payload: 'x' };
  await request({ method: 'POST', url: '/upload_file?destination=/tmp', ...unfinished });
  await request({ url: '/%' });
  const broken = { name: 'broken', command: 'false' };
  for (const payload of [{}, [{ name: '?' }], [broken], []])
    await request({ method: 'POST', url: '/update_mcp_server', payload });
  await request({ method: 'POST', url: '/update_mcp_server', payload: [broken] });
  await callUnknownTool();

  await act('run_ipython', { code: 'pass' });
  await act('run_ipython', { code: 'import time; time.sleep(1000)' }, 0.1);

  await askForDrafts();

  // What takes a place that fails, is huge, or has no browser.
  await using strange = serve(strangeExecutor({}), join(folder, 'strange'), { messages });
  const at = (to: TestServer) => (action: string, args: object) =>
    request({ method: 'POST', url: '/execute_action', payload: { action: { action, args } } }, to);
  await request({ url: '/download_files?path=/many' }, strange);
  await at(strange)('browse', { url: 'about:blank' });
  await at(strange)('browse_interactive', { browser_actions: 'GET_EVAL_GOAL' });
  await at(strange)('read', { path: '/x' });

  // What takes every way in which a place, a page or a kernel can end.
  const plugins = { ...browserActions, ...jupyterActions };
  await using ending = serve(strangeExecutor(plugins), join(folder, 'ending'), { messages });
  for (const code of errorCodes) await at(ending)('browse', { url: `failure:${code}` });
  for (const url of ['page:whole', 'page:failed', 'page:download']) {
    await at(ending)('browse', { url });
    await at(ending)('browse_interactive', { browser_actions: url });
  }
  await at(ending)('run_ipython', { code: '' });

  const seen = answers.join('\n');
  expect(Object.keys(defaultMessages).filter((name) => !seen.includes(`‹${name}›`))).toEqual([]);
  // No word of the server's own remains: the longest piece of each text between its values.
  const pieces = Object.values(defaultMessages).map((own) =>
    own.split(/\{\w+\}|\n/).reduce((longest, piece) => (piece.length > longest.length ? piece : longest), ''),
  );
  expect(pieces.filter((piece) => piece.length > 12 && seen.includes(piece))).toEqual([]);
});

/** An answer to a client of MCP, which no request for an action gets. */
async function callUnknownTool(): Promise<void> {
  const address = await server.app.listen({ host: '127.0.0.1', port: 0 });
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { 'x-session-api-key': key } };
  await client.connect(new SSEClientTransport(new URL(`${address}/sse`), { requestInit }));
  answers.push(JSON.stringify(await client.callTool({ name: 'absent', arguments: {} })));
  await client.close();
}

/** Drafts that nothing applies. */
async function askForDrafts(): Promise<void> {
  const endpoint = await startEndpoint();
  const { baseUrl, answers: given } = endpoint;
  await using drafting = startServer({ messages, lints: true, draftModel: { baseUrl, model: 'm' } });
  const draft = async (start: number) => {
    const args = { path: drafting.path('lines'), content: 'x', start, impl_source: 'llm_based_edit' };
    const payload = { action: { action: 'edit', args } };
    await request({ method: 'POST', url: '/execute_action', payload }, drafting);
  };
  writeFileSync(drafting.path('lines'), 'x\n'.repeat(400));
  await draft(500);
  await draft(1);
  given.push('no code', 'no code', 'no code');
  await draft(400);
  await draft(400);
  endpoint.close();
  const args = { command: 'create', path: drafting.path('a.py'), file_text: '(' };
  await request(
    { method: 'POST', url: '/execute_action', payload: { action: { action: 'edit', args } } },
    drafting,
  );
}

/** A place with answers that a real one seldom gives. */
function strangeExecutor(plugins: object): Executor {
  const answer = (action: Record<string, unknown>): object => {
    switch (action.action) {
      case 'list':
        return { entries: [], truncated: true };
      case 'stat':
        return { type: 'directory' };
      case 'run':
        return { output: '' };
      case 'browse':
      case 'browse_interactive':
        return page(String(action.url ?? action.code));
      case 'run_ipython':
        return { code: '', content: '', image_urls: null, success: true, parts };
      default:
        throw new TypeError('unexpected');
    }
  };
  const strange: Partial<Executor> = {
    actions: { ...actions, ...plugins } as Executor['actions'],
    execute: async (action) => ({ observation: action.action, ...answer(action as never) }) as never,
    close: async () => {},
  };
  return strange as Executor;
}

function page(url: string): object {
  const [kind, name] = url.split(':');
  if (kind === 'failure') throw new WorkcellError(name as ErrorCode, 'in words of its own');
  const failed = name === 'failed';
  return {
    url,
    error: failed ? 'e' : null,
    pages: [],
    screenshot: failed ? { path: '/p', data: '' } : null,
    marked: null,
    elements: [],
    tree: '',
    text: '',
    focused: failed ? '1' : null,
    lastAction: '',
    downloads: name === 'download' ? [{ state: 'completed', path: '/d' }] : [],
  };
}

/** A code cell about which there is everything to say. */
const parts: readonly CodePart[] = [
  { type: 'gap', omittedBytes: 1 },
  { type: 'kernel-died', how: { endedBy: 'oom' } },
  { type: 'kernel-died', how: { endedBy: 'killed', signal: 'SIGKILL' } },
  { type: 'kernel-died', how: { endedBy: 'lost', exitCode: 1 } },
  { type: 'kernel-ended' },
  { type: 'reply-too-large', bytes: 1 },
  { type: 'too-few-answers', answers: 1 },
  { type: 'malformed', messages: 1 },
];

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
