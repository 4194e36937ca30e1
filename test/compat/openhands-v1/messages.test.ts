/** You can replace every text of the server, which then says it word for word. */
import { request as httpRequest } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { replaceMessages } from '../../../src/compat/messages.js';
import { defaultV1Messages } from '../../../src/compat/openhands-v1/openhands-v1-messages.js';
import { serveOpenHandsV1 } from '../../../src/compat/openhands-v1/serve-openhands-v1.js';
import {
  actions,
  type ErrorCode,
  type Executor,
  errorCodes,
  WorkcellError,
} from '../../../src/protocol/index.js';
import { startServer, type TestServer } from './server.js';

/** Each text is its key, so that an answer shows which message made it. */
const marked = Object.fromEntries(Object.keys(defaultV1Messages).map((key) => [key, `‹${key}›`]));
const messages = replaceMessages(defaultV1Messages, marked, 'the test');

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ messages });
});
afterAll(() => server[Symbol.asyncDispose]());

const answers: string[] = [];
async function ask(path: string, init: RequestInit = {}): Promise<void> {
  answers.push(await (await server.fetch(path, init)).text());
}
const json = (value: unknown, method = 'POST'): RequestInit => ({
  method,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});
const form = (type: string): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': type },
  body: 'x',
});

test('all of them are said in the words of the catalogue', { timeout: 60_000 }, async () => {
  await ask('/api/file/home', { headers: { 'x-session-api-key': 'wrong' } });
  await ask('/api/nowhere');
  await ask('/api/conversations');
  await ask(`/api/file/upload?path=${server.workspace}/x`, form('multipart/form-data'));
  await ask(`/api/file/upload?path=${server.workspace}/x`, form('multipart/form-data; boundary=b'));
  await ask('/api/file/download?path=here');
  await ask(`/api/conversations/${'0'.repeat(32)}/workspace/%2e%2e%2f%2e%2e%2fetc`);
  answers.push(await getWithBody('/api/bash/bash_events', ' '.repeat(2_000_000)));
  await ask('/api/bash/execute_bash_command', json({ command: 'sleep 1000', timeout: 0 }));
  await ask('/api/bash/execute_bash_command', json({ command: 'head -c 12000000 /dev/zero' }));
  await ask('/api/bash/bash_events/none');
  await ask('/api/bash/bash_events/search?page_id=none');
  await ask('/api/git/diff?path=x&ref=a&commit=b');
  await ask('/api/settings', json({ agent_settings_diff: {} }, 'PATCH'));
  await ask('/api/settings', json({ misc_settings_diff: { a: 'x'.repeat(1_100_000) } }, 'PATCH'));
  await ask('/api/settings/secrets/NONE');
  for (let index = 0; index <= 1000; index++)
    await ask('/api/settings/secrets', json({ name: `S${index}`, value: 'v' }, 'PUT'));
  await ask('/api/workspaces?path=/none', { method: 'DELETE' });
  for (const from of [0, 1000]) {
    const workspaces = Array.from({ length: 1000 }, (_, index) => {
      const path = `/${from + index}`;
      return { id: path, name: path, path };
    });
    await ask('/api/workspaces', json({ workspaces }));
  }
  await ask('/api/desktop/url');
  await ask('/api/vscode/url');
  await ask('/api/vscode/status');

  const bash = '/sockets/bash-events';
  answers.push(await reasonOf('/sockets/events/x'), await reasonOf(`${bash}?session_api_key=wrong`));
  const open = Array.from({ length: 50 }, () => connect(`${bash}?session_api_key=${server.apiKey}`));
  await Promise.all(open.map((socket) => new Promise((resolve) => socket.once('open', resolve))));
  answers.push(await reasonOf(`${bash}?session_api_key=${server.apiKey}`));
  const [first] = open;
  const frame = new Promise((resolve) =>
    first?.on('message', (data) => /BashError/.test(String(data)) && resolve(String(data))),
  );
  first?.send('{');
  answers.push(String(await frame));
  for (const socket of open) socket.terminate();

  await using editor = await startServer({ messages, editor: { program: '/none' } });
  const address = await editor.fetch('/api/vscode/url?base_url=none');
  answers.push(await address.text());

  await askStrange();

  const seen = answers.join('\n');
  // The client whose body breaks off is no longer there to hear it.
  const unheard = ['http.broken_body'];
  const unsaid = Object.keys(defaultV1Messages).filter((name) => !seen.includes(`‹${name}›`));
  expect(unsaid).toEqual(unheard);
  // No word of the server's own remains: the longest piece of each text between its values.
  const pieces = Object.values(defaultV1Messages).map((own) =>
    own.split(/\{\w+\}|\n/).reduce((longest, piece) => (piece.length > longest.length ? piece : longest), ''),
  );
  expect(pieces.filter((piece) => piece.length > 8 && seen.includes(piece))).toEqual([]);
});

/** What a place gives that fails in every way, or never answers. */
async function askStrange(): Promise<void> {
  const strange = {
    actions,
    async execute(action: { action: string; command?: string }) {
      const [, code] = /^fail (.*)$/.exec(action.command ?? '') ?? [];
      if (errorCodes.includes(code as ErrorCode))
        throw new WorkcellError(code as ErrorCode, 'in words of its own');
      if (action.command === 'wait') return new Promise(() => {});
      throw new TypeError('unexpected');
    },
    close: async () => {},
  };
  const sessionApiKeys = ['a-key-for-this-test'];
  const serving = await serveOpenHandsV1(strange as unknown as Executor, {
    sessionApiKeys,
    messages,
    listen: { host: '127.0.0.1', port: 0 },
    workspace: '/',
    isolation: { tier: 'none', facts: [] },
  });
  const { port } = serving.address as { port: number };
  const headers = { 'x-session-api-key': 'a-key-for-this-test', 'content-type': 'application/json' };
  const post = async (path: string, body: object) => {
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    answers.push(await (await fetch(`http://127.0.0.1:${port}${path}`, init)).text());
  };
  for (const code of [...errorCodes, 'nothing'])
    await post('/api/bash/execute_bash_command', { command: `fail ${code}` });
  answers.push(await (await fetch(`http://127.0.0.1:${port}/ready`)).text());
  const home = await fetch(`http://127.0.0.1:${port}/api/file/home`, { headers });
  answers.push(await home.text());
  for (let index = 0; index <= 256; index++) await post('/api/bash/start_bash_command', { command: 'wait' });
  await serving.close('detach');
}

function connect(path: string): WebSocket {
  return new WebSocket(`${server.host.replace('http', 'ws')}${path}`);
}

function reasonOf(path: string): Promise<string> {
  return new Promise((resolve) => connect(path).once('close', (_code, reason) => resolve(String(reason))));
}

/** `fetch` sends no body with GET. */
function getWithBody(path: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-session-api-key': server.apiKey, 'content-length': body.length };
    const asked = httpRequest(`${server.host}${path}`, { headers }, (answer) => resolve(readText(answer)));
    asked.once('error', reject);
    asked.end(body);
  });
}
