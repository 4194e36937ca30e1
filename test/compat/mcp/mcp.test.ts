/** The MCP server, driven by the official client over both transports. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../../src/testing/contract/given.js';
import { builtFile } from '../../built-file.js';

const command = [builtFile('cli/main.cjs'), 'mcp', '--backend', 'cli'];

type Text = { type: string; text: string }[];
const textOf = (answer: object) => (answer as { content: Text }).content.map(({ text }) => text).join('');

interface Connected {
  readonly client: Client;
  close(): Promise<void>;
}

async function overStdio(workspace: string, more: string[] = []): Promise<Connected> {
  const client = new Client({ name: 'test', version: '1' });
  const args = [...command, '--workspace', workspace, ...more];
  await client.connect(new StdioClientTransport({ command: process.execPath, args }));
  return { client, close: () => client.close() };
}

async function startHttp(workspace: string, more: string[] = []) {
  const args = [...command, '--workspace', workspace, '--http', '127.0.0.1:0', ...more];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (line.startsWith('listening on ')) break;
  }
  const token = lines[0]?.replace('token: ', '') ?? '';
  const url = new URL(lines[1]?.replace('listening on ', '') ?? '');
  return {
    token,
    url,
    async close() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

async function overHttp(workspace: string): Promise<Connected> {
  const server = await startHttp(workspace);
  const { client } = await connectHttp(server);
  return {
    client,
    async close() {
      await client.close();
      await server.close();
    },
  };
}

async function connectHttp({ token, url }: { token: string; url: URL }) {
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const transport = new StreamableHTTPClientTransport(url, { requestInit });
  await client.connect(transport as Parameters<Client['connect']>[0]);
  const call = async (name: string, args: object = {}) =>
    textOf(await client.callTool({ name, arguments: { ...args } }));
  return { client, transport, call };
}

function makeWorkspace(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-'));
  writeFileSync(join(folder, 'notes.txt'), 'one\ntwo\n');
  return folder;
}

describe.each([
  ['stdio', overStdio],
  ['streamable HTTP', overHttp],
] as const)('over %s', (_name, connect) => {
  const workspace = makeWorkspace();
  let connected: Connected;
  beforeAll(async () => {
    connected = await connect(workspace);
  });
  afterAll(async () => {
    await connected.close();
    rmSync(workspace, { recursive: true });
  });

  test('about ten actions are listed as tools with their schemas and hints', async () => {
    const { tools } = await connected.client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['run', 'read', 'write', 'edit', 'list', 'glob', 'grep']));
    expect(names.length).toBeLessThan(13);
    // What would lead a model past the policy is for the owner of the cell.
    for (const name of ['open_cdp', 'open_vscode', 'stop_vscode', 'watch']) {
      expect(names).not.toContain(name);
      await expect(connected.client.callTool({ name, arguments: {} })).rejects.toThrow(name);
    }
    expect(tools.find(({ name }) => name === 'read')).toMatchObject({
      inputSchema: { type: 'object', required: ['path'] },
      annotations: { readOnlyHint: true, destructiveHint: false },
    });
    const run = tools.find(({ name }) => name === 'run');
    expect(run?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    expect(run?.inputSchema.properties).not.toHaveProperty('action');
  });

  test('a command runs in a shell that keeps its state; a failed one is an answer', async () => {
    const { client } = connected;
    await client.callTool({ name: 'run', arguments: { command: 'greeting=hello' } });
    const answer = await client.callTool({ name: 'run', arguments: { command: 'echo $greeting; false' } });
    expect(textOf(answer)).toBe(`hello\n[exit code 1; in ${workspace}]`);
    // Some clients would show the model these fields instead of the text.
    expect(answer.structuredContent).toBeUndefined();
    expect(answer.isError).toBeUndefined();
  });

  test('a file is written, edited and read', async () => {
    const { client } = connected;
    await client.callTool({ name: 'write', arguments: { path: 'a.txt', content: 'var x\n' } });
    const edited = await client.callTool({
      name: 'edit',
      arguments: { path: 'a.txt', oldText: 'var', newText: 'const' },
    });
    expect(textOf(edited)).toContain('+const x');
    expect(textOf(await client.callTool({ name: 'read', arguments: { path: 'a.txt' } }))).toBe('const x\n');
  });

  test('a picture comes as a picture', async () => {
    const png =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==';
    const { client } = connected;
    const arguments_ = { path: 'dot.png', content: png, encoding: 'base64' };
    await client.callTool({ name: 'write', arguments: arguments_ });
    const { content } = await client.callTool({ name: 'read', arguments: { path: 'dot.png' } });
    expect((content as unknown[]).at(-1)).toEqual({ type: 'image', mimeType: 'image/png', data: png });
  });

  test('what fails says why, and what does not fit names each problem', async () => {
    const { client } = connected;
    const missing = await client.callTool({ name: 'read', arguments: { path: 'nowhere' } });
    expect(missing).toMatchObject({ isError: true });
    expect(textOf(missing)).toMatch(/^not-found: /);
    const wrong = await client.callTool({ name: 'read', arguments: { path: 7, colour: 'red' } });
    expect(textOf(wrong)).toMatch(/^invalid-action: .*path: .*colour/s);
    await expect(client.callTool({ name: 'nonsense', arguments: {} })).rejects.toThrow(
      'There is no tool "nonsense"',
    );
  });

  test('output arrives as progress, within a budget at the end', async () => {
    const seen: string[] = [];
    const answer = await connected.client.callTool(
      { name: 'run', arguments: { command: 'echo first; seq 100000' } },
      undefined,
      { onprogress: ({ message }) => seen.push(message ?? '') },
    );
    expect(seen.join('')).toContain('first');
    expect(textOf(answer).length).toBeLessThanOrEqual(32_768);
    const [, outputId] = /read_output with outputId (\S+) gives/.exec(textOf(answer)) ?? [];
    const part = await connected.client.callTool({
      name: 'read_output',
      arguments: { outputId, from: 300_000, limitBytes: 100 },
    });
    expect(textOf(part)).toMatch(/^[\d\r\n]{100}$/);
  });

  test('a cancelled call ends its command', async () => {
    const { client } = connected;
    const abort = new AbortController();
    let pid = '';
    const call = client.callTool(
      { name: 'run', arguments: { command: "sh -c 'echo $$; exec sleep 600'", session: 'cancelled' } },
      undefined,
      {
        signal: abort.signal,
        onprogress: ({ message }) => {
          pid = message?.trim() ?? '';
          abort.abort();
        },
      },
    );
    await expect(call).rejects.toThrow(/abort/i);
    const command = `tail --pid=${pid} -f /dev/null; echo gone`;
    expect(textOf(await client.callTool({ name: 'run', arguments: { command } }))).toContain('gone');
  });

  test('files are resources', async () => {
    const { client } = connected;
    const { resources } = await client.listResources();
    const notes = resources.find(({ name }) => name === 'notes.txt');
    expect(notes).toMatchObject({ uri: `file://${workspace}/notes.txt`, size: 8 });
    const { contents } = await client.readResource({ uri: notes?.uri ?? '' });
    expect(contents).toMatchObject([{ text: 'one\ntwo\n' }]);
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(1);
    await expect(client.readResource({ uri: 'https://elsewhere/x' })).rejects.toThrow('not the address');
  });
});

test('--read-only offers nothing that changes the cell', async () => {
  const workspace = makeWorkspace();
  const { client, close } = await overStdio(workspace, ['--read-only', '--tools', 'all', '--structured']);
  try {
    const { tools } = await client.listTools();
    expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['list_processes', 'stat']));
    const { structuredContent } = await client.callTool({ name: 'stat', arguments: { path: 'notes.txt' } });
    expect(structuredContent).toMatchObject({ type: 'file', sizeBytes: 8 });
    await expect(client.callTool({ name: 'run', arguments: { command: 'true' } })).rejects.toThrow(
      'There is no tool "run"',
    );
  } finally {
    await close();
    rmSync(workspace, { recursive: true });
  }
});

test('--entry offers the tools of a module, which run in the cell', async () => {
  const workspace = makeWorkspace();
  const math = builtFile('runtime/tools/toolkits/math-toolkit.js');
  const { client, close } = await overStdio(workspace, ['--entry', math]);
  try {
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === 'add')).toMatchObject({
      description: 'Adds two numbers.',
      inputSchema: { type: 'object', required: ['a', 'b'] },
      annotations: { readOnlyHint: true },
    });
    expect(tools.map(({ name }) => name)).not.toContain('call_tool');
    expect(textOf(await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } }))).toBe('3');
    const wrong = await client.callTool({ name: 'add', arguments: { a: 'one' } });
    expect(textOf(wrong)).toMatch(/^invalid-arguments: .*a: .*b: /s);
  } finally {
    await close();
    rmSync(workspace, { recursive: true });
  }
});

test('--entry takes a toolkit in Python too, with its arguments', async () => {
  const workspace = makeWorkspace();
  const kits = fileURLToPath(new URL('../../runtime/tools/fixtures/kits.py', import.meta.url));
  const { client, close } = await overStdio(workspace, ['--entry', `${kits}#Counter{"start":5}`]);
  try {
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === 'next')).toMatchObject({ description: 'The next number.' });
    expect(textOf(await client.callTool({ name: 'next', arguments: { step: 2 } }))).toBe('7');
    expect(textOf(await client.callTool({ name: 'next', arguments: {} }))).toBe('8');
  } finally {
    await close();
    rmSync(workspace, { recursive: true });
  }
});

describe('over HTTP', () => {
  const workspace = makeWorkspace();
  let server: Awaited<ReturnType<typeof startHttp>>;
  beforeAll(async () => {
    server = await startHttp(workspace, ['--tools', 'run,list_sessions']);
  });
  afterAll(async () => {
    await server.close();
    rmSync(workspace, { recursive: true });
  });

  const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

  test.each([
    ['without a token', {}, 401],
    ['with a wrong token', { authorization: 'Bearer wrong-token-wrong-token' }, 401],
    ['from a page elsewhere', { origin: 'https://elsewhere.example' }, 403],
    ['with a session that is none', { 'mcp-session-id': 'x' }, 401],
  ])('refuses a request %s', async (_what, headers, status) => {
    const answer = await fetch(server.url, { method: 'POST', body, headers: { ...json, ...headers } });
    expect(answer.status).toBe(status);
  });

  test('each client has a shell of its own, which ends with it', async () => {
    const [one, other] = await Promise.all([connectHttp(server), connectHttp(server)]);
    await one.call('run', { command: 'word=secret; echo here > shared.txt' });
    expect(await other.call('run', { command: 'echo "<$word>"; cat shared.txt' })).toMatch(/^<>\nhere\n/);
    expect(await one.call('run', { command: 'echo "<$word>"' })).toMatch(/^<secret>\n/);
    const shells = async () => (await other.call('list_sessions')).match(/"session"/g)?.length;
    expect(await shells()).toBe(2);
    await one.transport.terminateSession();
    await one.client.close();
    await eventually(async () => (await shells()) === 1);
    await other.client.close();
  });

  test('tells a client whose session is gone to begin anew', async () => {
    const headers = { ...json, authorization: `Bearer ${server.token}`, 'mcp-session-id': 'gone' };
    expect((await fetch(server.url, { method: 'POST', body, headers })).status).toBe(404);
  });
});
