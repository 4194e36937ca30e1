/** The MCP proxy, as the Python client uses it: servers posted as a list, their tools over SSE. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveOpenHands } from '../../../src/compat/openhands-v0/serve-openhands-v0.js';
import { createRuntime, type Runtime } from '../../../src/index.js';

const everything = fileURLToPath(
  import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'),
);
const key = 'a-key-for-the-tests-only';
const headers = { 'x-session-api-key': key, authorization: `Bearer ${key}` };

let server: Awaited<ReturnType<typeof serveOpenHands>>;
let runtime: Runtime;
let url: string;
beforeAll(async () => {
  runtime = await createRuntime({ backend: 'cli', config: false, events: { store: 'memory' } });
  server = await serveOpenHands(runtime, {
    listen: { host: '127.0.0.1', port: 0 },
    workingDirectory: runtime.workspace,
    token: key,
  });
  url = `http://127.0.0.1:${(server.address as { port: number }).port}`;
});
afterAll(async () => {
  await server.close();
  await runtime.close();
});

const update = (...servers: (string | object)[]) => updateAt(url, servers);

async function updateAt(at: string, servers: readonly (string | object)[]) {
  const body = JSON.stringify(
    servers.map((given) =>
      typeof given === 'string'
        ? { name: given, command: 'node', args: [everything, 'stdio'], env: {} }
        : given,
    ),
  );
  const answer = await fetch(`${at}/update_mcp_server`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  });
  return (await answer.json()) as { detail: string; router_error_log: string };
}

async function connect(path: string, at = url): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const init = { headers };
  await client.connect(new SSEClientTransport(new URL(`${at}${path}`), { requestInit: init }));
  return client;
}

test('there is nothing to connect to before a server is named, nor after the last one went', async () => {
  expect((await fetch(`${url}/mcp/sse`, { headers })).status).toBe(404);
  await update('one');
  await update();
  expect((await fetch(`${url}/mcp/sse`, { headers })).status).toBe(404);
});

test.each(['/mcp/sse', '/sse'])('tools are listed and called through %s', async (path) => {
  expect(await update('one')).toMatchObject({ router_error_log: '' });
  const client = await connect(path);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo');
  expect(await client.callTool({ name: 'echo', arguments: { message: 'hi' } })).toMatchObject({
    content: [{ type: 'text', text: 'Echo: hi' }],
  });
  expect(await client.callTool({ name: 'nothing', arguments: {} })).toMatchObject({ isError: true });
  await client.close();
});

test('several servers put their names before those of their tools, and a later list counts', async () => {
  await update('one', 'two');
  const client = await connect('/mcp/sse');
  const names = (await client.listTools()).tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['one_echo', 'two_echo']));
  expect(await client.callTool({ name: 'two_echo', arguments: { message: 'hi' } })).toMatchObject({
    content: [{ text: 'Echo: hi' }],
  });
  await client.close();
});

test('a server starts once for all who call its tools', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'openhands-mcp-'));
  const starts = join(directory, 'starts');
  const command = `echo started >> ${starts}; exec node ${everything} stdio`;
  await update({ name: 'counted', command: 'sh', args: ['-c', command], env: {} });
  for (let call = 0; call < 3; call++) {
    const client = await connect('/mcp/sse');
    await client.callTool({ name: 'echo', arguments: { message: 'hi' } });
    await client.close();
  }
  expect(readFileSync(starts, 'utf8')).toBe('started\n');
  rmSync(directory, { recursive: true });
});

test('a list that is refused leaves the next one to work', async () => {
  await update('one');
  const many = Array.from({ length: 65 }, (_, index) => ({ name: `server-${index}`, command: 'true' }));
  expect((await update(...many)).detail).toContain('at most 64');
  expect((await update('x'.repeat(65))).detail).toContain('1 to 64');
  expect(await update('two')).toMatchObject({ detail: expect.stringContaining('two'), router_error_log: '' });
  const client = await connect('/mcp/sse');
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo');
  await client.close();
  expect(await update()).toMatchObject({ router_error_log: '' });
});

/** A server with the tool `echo`, which answers with this text. */
function answering(text: string): { command: string; args: string[] } {
  const source = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    const result = method === 'initialize'
      ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'own', version: '1' } }
      : method === 'tools/list' ? { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }
      : { content: [{ type: 'text', text: '${text}' }] };
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  })`;
  return { command: 'node', args: ['-e', source] };
}

test("a call reaches a client's own server, and none that the operator connected", async () => {
  const servers = { operator: { command: 'node', args: [everything, 'stdio'] } };
  await runtime.execute({ action: 'connect_mcp', servers });
  await update({ name: 'own', ...answering('from the client') });
  const client = await connect('/mcp/sse');
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['echo']);
  expect(await client.callTool({ name: 'echo', arguments: { message: 'hi' } })).toMatchObject({
    content: [{ text: 'from the client' }],
  });
  expect(await client.callTool({ name: 'get-sum', arguments: { a: 1, b: 2 } })).toMatchObject({
    isError: true,
  });
  await client.close();
  await update();
  await runtime.execute({ action: 'disconnect_mcp', server: 'operator' });
});

test('a client and the operator each have a server of the same name, and neither gets that of the other', async () => {
  const servers = { github: answering('from the operator') };
  await using owned = await createRuntime({
    backend: 'cli',
    config: false,
    events: { store: 'memory' },
    mcp: servers,
  });
  const other = await serveOpenHands(owned, {
    listen: { host: '127.0.0.1', port: 0 },
    workingDirectory: owned.workspace,
    token: key,
  });
  const at = `http://127.0.0.1:${(other.address as { port: number }).port}`;
  try {
    const { router_error_log } = await updateAt(at, [{ name: 'github', command: 'true' }]);
    expect(router_error_log).toMatch(/MCP server "github" /);
    const client = await connect('/mcp/sse', at);
    expect((await client.listTools()).tools).toEqual([]);
    expect(await client.callTool({ name: 'echo', arguments: {} })).toMatchObject({ isError: true });
    await updateAt(at, [{ name: 'github', ...answering('from the client') }]);
    expect(await client.callTool({ name: 'echo', arguments: {} })).toMatchObject({
      content: [{ text: 'from the client' }],
    });
    expect(await owned.mcp.call('echo', {}, { server: 'github' })).toMatchObject({
      content: [{ text: 'from the operator' }],
    });
    await client.close();
  } finally {
    await other.close();
  }
  expect((await owned.execute({ action: 'list_mcp_tools' })).servers).toMatchObject([{ name: 'github' }]);
});

test('of updates at the same time, the last one counts', async () => {
  await Promise.all([update('one'), update('two', 'three'), update('four')]);
  const { servers } = await runtime.execute({ action: 'list_mcp_tools' });
  expect(servers.map(({ name }) => name)).toEqual([expect.stringMatching(/four$/)]);
  await update();
});

test('a name leaves room for what tells it from others', async () => {
  expect((await update({ name: 'x'.repeat(64), command: 'true' })).detail).toContain('no longer than 48');
});
