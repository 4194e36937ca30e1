/** What a runtime server starts in a cell, and who may reach it: over new connections, restarts and removed keys. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHttpApp, mount } from '../../../src/base/http/http-app.js';
import { ServiceClient } from '../../../src/client/index.js';
import {
  remoteRuntimeApi,
  remoteRuntimePath,
  remoteRuntimeTemplates,
} from '../../../src/compat/openhands-remote/remote-runtime-api.js';
import { attachRuntime, createRuntime, type Runtime } from '../../../src/index.js';
import { type Service, startService } from '../../../src/service/serve-service.js';
import type { ServiceParts } from '../../../src/service/service-app.js';

const directory = mkdtempSync(join(tmpdir(), 'workcell-runtime-servers-'));
const config = join(directory, 'service.toml');
const operatorKey = 'an-operator-key-of-the-test';

writeFileSync(
  config,
  `backend = "sandbox"\n[events]\nstore = "memory"\n[service]\nstore = "sqlite:${join(directory, 'service.db')}"\n`,
  { mode: 0o600 },
);

let service: Service;
let url: string;
let operator: ServiceClient;

async function start(): Promise<void> {
  service = await startService({
    listen: { host: '127.0.0.1', port: 0 },
    operatorKey,
    config,
    also: [remoteRuntimeApi],
    templates: remoteRuntimeTemplates,
  });
  url = `http://127.0.0.1:${(service.address as { port: number }).port}`;
  operator = new ServiceClient({ url, apiKey: operatorKey });
}

beforeAll(start);
afterAll(async () => {
  await service?.close();
  rmSync(directory, { recursive: true, force: true });
});

/** An MCP server without tools. */
const quiet = `
process.title = 'quiet-mcp';
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const result = method === 'initialize'
    ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'quiet', version: '1' } }
    : { tools: [] };
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
});
`;
const server = { name: 'quiet', command: 'node', args: ['-e', quiet], env: {} };
const counted = 'pgrep -fc "^quiet-mcp" || true';

interface Started {
  readonly runtime_id: string;
  readonly session_api_key: string;
}

async function ask(path: string, key: string, body?: unknown) {
  const response = await fetch(`${url}${remoteRuntimePath}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'x-api-key': key,
      'x-session-api-key': key,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as unknown };
}

const startOf = async (session: string, key: string) =>
  (await ask('/start', key, { session_id: session, image: 'any' })).body as Started;

async function run(cell: string, command: string): Promise<string> {
  const response = await fetch(`${operator.address(cell)}/v1/actions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ action: 'run', command }),
  });
  return ((await response.json()) as { output: string }).output;
}

test('MCP servers that clients named end when the service stops, and the next one starts its own', async () => {
  const { runtime_id: id, session_api_key: key } = await startOf('mcp', operatorKey);
  const update = () => ask(`/runtimes/${id}/update_mcp_server`, key, [server]);
  expect(await update()).toMatchObject({ status: 200, body: { router_error_log: '' } });
  expect(await run(id, counted)).toBe('1\n');
  await service.close();
  await start();
  // The service waits only a while for what it ends.
  await expect.poll(() => run(id, counted), { timeout: 30_000 }).toBe('0\n');
  await update();
  expect(await run(id, counted)).toBe('1\n');
  await operator.remove(id);
}, 60_000);

test('a new connection to a cell leaves its MCP servers to the server that started them', async () => {
  const first = await createRuntime({
    backend: 'sandbox',
    config: false,
    keepAlive: true,
    plugins: remoteRuntimeTemplates.openhands.plugins,
    events: { store: 'memory' },
  });
  const { id } = first;
  let runtime: Runtime = first;
  const record = { id, tenant: 'a', state: 'running', labels: { 'openhands/session': 's' } };
  // A service would work in the cell through one runtime until the connection to it breaks.
  const parts = {
    cells: { byId: () => record, use: async () => ({ runtime, done() {} }), listen: () => () => {} },
    keys: { find: () => ({ id: 'k' }), proofOf: () => 'proof', track: () => () => {} },
    requests: { enterCell: () => () => {} },
    secret: 'a-secret',
    log() {},
  } as unknown as ServiceParts;
  const app = createHttpApp({ access: { checkSource() {}, checkToken() {} } });
  mount(app, [remoteRuntimeApi(parts)]);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as { port: number };
  const { Runtimes } = await import('../../../src/compat/openhands-remote/runtimes.js');
  const shown = new Runtimes(parts, remoteRuntimePath).shown(
    { headers: {} } as never,
    { id: 'k' } as never,
    record as never,
  );
  const update = (body: unknown) =>
    fetch(`http://127.0.0.1:${port}${remoteRuntimePath}/runtimes/${id}/update_mcp_server`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-session-api-key': String(shown.session_api_key) },
      body: JSON.stringify(body),
    });
  expect(await (await update([server])).json()).toMatchObject({ router_error_log: '' });
  expect((await runtime.run(counted)).output).toBe('1\n');
  await first.detach();
  runtime = await attachRuntime(
    { backend: 'sandbox', place: {}, id },
    {
      config: false,
      plugins: remoteRuntimeTemplates.openhands.plugins,
      events: { store: 'memory' },
    },
  );
  await update([server]);
  expect((await runtime.run(counted)).output).toBe('1\n');
  await app.close();
  await expect.poll(async () => (await runtime.run(counted)).output, { timeout: 30_000 }).toBe('0\n');
  await runtime.close();
}, 60_000);

test('a session key ends with the key that it came from, also in what is under way', async () => {
  const [first, second] = await Promise.all([operator.createKey(), operator.createKey()]);
  const { runtime_id: id, session_api_key: own } = await startOf('revoked', first.key);
  const { session_api_key: other } = (await ask('/sessions/revoked', second.key)).body as Started;
  expect(own).not.toBe(other);
  // Clients read it once.
  expect(((await ask('/sessions/revoked', first.key)).body as Started).session_api_key).toBe(own);
  const act = (key: string, command: string) =>
    ask(`/runtimes/${id}/execute_action`, key, { action: { action: 'run', args: { command } } });
  expect((await act(own, 'echo one')).status).toBe(200);
  await run(id, 'mkfifo begun');
  const underWay = expect(act(own, 'echo > begun; sleep 600')).rejects.toThrow();
  await run(id, 'cat begun');
  await operator.removeKey(first.id);
  await underWay;
  expect((await act(own, 'true')).status).toBe(401);
  expect((await act(`${second.id}${own.slice(own.indexOf('-'))}`, 'true')).status).toBe(401);
  expect((await ask(`/runtimes/${id}/server_info`, other)).status).toBe(200);
  await operator.remove(id);
}, 60_000);
