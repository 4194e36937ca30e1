/** Every server and facade judges, records and masks the same action in the same way, in a real sandbox. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { HttpListener } from '../../src/base/http/listen.js';
import { serveExecutor } from '../../src/cell/server/serve-executor.js';
import { serveCamel } from '../../src/compat/camel/camel-app.js';
import { serveMcpOverHttp } from '../../src/compat/mcp/http.js';
import { createMcpServer } from '../../src/compat/mcp/mcp-server.js';
import { serveOpenHands } from '../../src/compat/openhands-v0/serve-openhands-v0.js';
import { serveOpenHandsV1 } from '../../src/compat/openhands-v1/serve-openhands-v1.js';
import { createRuntime, type Runtime, tool, type WorkcellEvent } from '../../src/index.js';
import { storyOf } from './story.js';

const secret = 'tok-4f9a8b7c6d';
const token = 'a-token-for-this-test-only';
const listen = { host: '127.0.0.1', port: 0 };
const file = `before ${secret} after\n`;
const hidden = file.replace(secret, '*'.repeat(secret.length));
/** The rules refuse it wherever it stands. */
const dangerous = 'touch made; cat ~/.ssh/id_rsa';

interface Way {
  /** What the caller sees of a command: its output, or why it did not run. */
  run(command: string): Promise<string>;
  upload?(path: string, content: string): Promise<string>;
  /** The status of a request with this body. */
  post?(body: string): Promise<number>;
  /** The bytes of a file, in all the forms that the way has. */
  download?(path: string): Promise<Buffer[]>;
  close(): Promise<void>;
}

const ways: Record<string, (runtime: Runtime) => Promise<Way>> = {
  'in process': async (runtime) => ({
    run: (command) =>
      runtime.run(command).then(
        ({ output }) => output,
        (error: Error) => error.message,
      ),
    upload: (path, content) =>
      runtime.files.upload(Buffer.from(content), path).then(
        () => 'done',
        (error: Error) => error.message,
      ),
    download: async (path) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of (await runtime.files.download(path)).content) chunks.push(chunk);
      return [Buffer.concat(chunks)];
    },
    close: async () => {},
  }),

  'the native API': async (runtime) => {
    const { workspace, isolation } = runtime;
    const server = await serveExecutor(runtime, { listen, token, workspace, isolation });
    const send = client(server.address, { authorization: `Bearer ${token}` });
    return {
      run: async (command) => (await send('/v1/actions', json({ action: 'run', command }))).text,
      post: async (body) => (await send('/v1/actions', { ...json({}), body })).status,
      upload: async (path, content) =>
        (await send(`/v1/files?path=${encodeURIComponent(path)}`, { method: 'PUT', body: content })).text,
      download: async (path) => {
        const url = `/v1/files?path=${path}`;
        const first = await send(url, { headers: { range: 'bytes=0-9' } });
        const rest = await send(url, { headers: { range: 'bytes=10-' } });
        return [(await send(url)).bytes, Buffer.concat([first.bytes, rest.bytes])];
      },
      close: () => server.close('detach'),
    };
  },

  MCP: async (runtime) => {
    const server = await serveMcpOverHttp(() => createMcpServer(runtime, {}), { listen, token });
    const mcp = new Client({ name: 'test', version: '1' });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    const send = client(server.address, requestInit.headers);
    const transport = new StreamableHTTPClientTransport(new URL(`${originOf(server.address)}/mcp`), {
      requestInit,
    });
    await mcp.connect(transport as Parameters<Client['connect']>[0]);
    return {
      post: async (body) => (await send('/mcp', { ...json({}), body })).status,
      run: async (command) => JSON.stringify(await mcp.callTool({ name: 'run', arguments: { command } })),
      close: async () => {
        await mcp.close();
        await server.close();
      },
    };
  },

  'OpenHands V0': async (runtime) => {
    const server = await serveOpenHands(runtime, { listen, token, workingDirectory: runtime.workspace });
    const send = client(server.address, { 'x-session-api-key': token });
    return {
      post: async (body) => (await send('/execute_action', { ...json({}), body })).status,
      run: async (command) =>
        (await send('/execute_action', json({ action: { action: 'run', args: { command } } }))).text,
      upload: async (path, content) => {
        const form = new FormData();
        form.append('file', new Blob([content]), path.split('/').pop() ?? '');
        const destination = path.split('/').slice(0, -1).join('/');
        return (await send(`/upload_file?destination=${destination}`, { method: 'POST', body: form })).text;
      },
      // Stored in the archive as it is.
      download: async (path) => {
        const { bytes } = await send(`/download_files?path=${runtime.workspace}/${path}`);
        const at = bytes.indexOf('before');
        return [bytes.subarray(at, at + file.length)];
      },
      close: () => server.close(),
    };
  },

  'OpenHands V1': async (runtime) => {
    const { workspace, isolation } = runtime;
    const server = await serveOpenHandsV1(runtime, {
      listen,
      sessionApiKeys: [token],
      workspace,
      isolation,
    });
    const send = client(server.address, { 'x-session-api-key': token });
    return {
      post: async (body) => (await send('/api/bash/execute_bash_command', { ...json({}), body })).status,
      run: async (command) => (await send('/api/bash/execute_bash_command', json({ command }))).text,
      upload: async (path, content) => {
        const form = new FormData();
        form.append('file', new Blob([content]), 'any');
        return (await send(`/api/file/upload?path=${path}`, { method: 'POST', body: form })).text;
      },
      download: async (path) => [(await send(`/api/file/download?path=${workspace}/${path}`)).bytes],
      close: () => server.close('detach'),
    };
  },

  CAMEL: async (runtime) => {
    const shell = tool({
      name: 'shell',
      description: 'Runs a command.',
      parameters: z.object({ command: z.string() }),
      execute({ command }) {
        const { execFileSync } = process.getBuiltinModule('node:child_process');
        return execFileSync('bash', ['-c', command], { encoding: 'utf8' });
      },
    });
    runtime.add(shell);
    const tools = [{ name: 'shell', description: '', parameters: { properties: { command: {} } } }];
    const server = await serveCamel(runtime, { listen, token, toolkits: [], tools });
    const send = client(server.address, { authorization: `Bearer ${token}` });
    return {
      post: async (body) => (await send('/shell', { ...json({}), body })).status,
      run: async (command) => (await send('/shell', json({ args: [command], kwargs: {} }))).text,
      close: () => server.close(),
    };
  },
};

describe.each(Object.keys(ways))('%s', (name) => {
  let runtime: Runtime;
  let way: Way;

  beforeEach(async () => {
    runtime = await createRuntime({
      backend: 'sandbox',
      config: false,
      events: { store: 'memory' },
      policy: {},
      secrets: { API_TOKEN: { value: secret } },
    });
    await runtime.write('notes', file);
    way = await (ways[name] as (runtime: Runtime) => Promise<Way>)(runtime);
  });
  afterEach(async () => {
    await way.close();
    await runtime.close();
  });

  test('an action is recorded, judged, carried out and masked', async () => {
    const before = await countOf(runtime);
    const shown = await way.run('cat notes');
    expect(shown).toContain('before [hidden:API_TOKEN] after');
    expect(shown).not.toContain(secret);
    const events = await eventsOf(runtime, before);
    expect(storyOf(events, 'cat notes')).toEqual(['action', 'decision allow', 'observation']);
    expect(JSON.stringify(events)).not.toContain(secret);
  });

  test('one that the policy refuses does not run, and the record says so', async () => {
    const before = await countOf(runtime);
    expect(await way.run(dangerous)).toContain('was refused (risk high');
    expect(storyOf(await eventsOf(runtime, before), '.ssh/id_rsa')).toEqual([
      'action',
      'decision deny',
      'error',
    ]);
    expect(await runtime.files.exists('made')).toBe(false);
  });

  test('a body that names a key twice is refused before anything is made of it', async () => {
    if (way.post === undefined) return;
    const before = await countOf(runtime);
    const twice = ['{"action":"run","command":"true","command":"touch made"}', '{"a":[{"b":1,"\\u0062":2}]}'];
    for (const body of twice) expect([400, 422]).toContain(await way.post(body));
    const events = await eventsOf(runtime, before + 1);
    expect(events.filter(({ kind }) => kind === 'action')).toEqual([]);
  });

  test('files come and go by the same rules', async () => {
    if (way.upload === undefined || way.download === undefined) return;
    const before = await countOf(runtime);
    expect(await way.upload('/etc/cron.d/job', 'x')).toContain('was refused (risk');
    await way.upload(`${runtime.workspace}/sent`, 'content');
    expect((await runtime.read('sent')).content).toBe('content');
    for (const bytes of await way.download('notes')) expect(bytes.toString()).toBe(hidden);
    const events = await eventsOf(runtime, before);
    // A client of V0 names the directory, so make it first.
    const stories = ['/etc/cron.d', '/sent', 'notes'].map((path) => storyOf(events, path, /load|make_dir/));
    expect(stories).toMatchObject([
      ['action', 'decision deny', 'error'],
      ['action', 'decision allow', 'observation'],
      ['action', 'decision allow', 'observation'],
    ]);
  });
});

async function countOf(runtime: Runtime): Promise<number> {
  return (await eventsOf(runtime, 0)).at(-1)?.id ?? 0;
}

async function eventsOf(runtime: Runtime, since: number): Promise<WorkcellEvent[]> {
  const events: WorkcellEvent[] = [];
  // A mark at the end: the stream itself goes on as long as the runtime.
  const last = await runtime.events.add({ action: 'stat', path: '.' });
  for await (const event of runtime.events.since(since)) {
    if (event.id === last) break;
    events.push(event);
  }
  return events;
}

function originOf(address: HttpListener['address']): string {
  return `http://127.0.0.1:${(address as { port: number }).port}`;
}

function client(address: HttpListener['address'], headers: Record<string, string>) {
  return async (path: string, init: RequestInit = {}) => {
    const given = { ...headers, ...(init.headers as Record<string, string>) };
    const response = await fetch(`${originOf(address)}${path}`, { ...init, headers: given });
    const bytes = Buffer.from(await response.arrayBuffer());
    return { bytes, text: bytes.toString(), status: response.status };
  };
}

function json(body: unknown): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
}
