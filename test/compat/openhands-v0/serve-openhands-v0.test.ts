/** The server on a real port, with connections that break. */
import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openHandsPlugins } from '../../../src/compat/openhands-v0/openhands-plugins.js';
import {
  type ServeOpenHandsOptions,
  serveOpenHands,
} from '../../../src/compat/openhands-v0/serve-openhands-v0.js';
import { thisMachine } from '../../../src/compat/openhands-v0/this-machine.js';
import { createRuntime } from '../../../src/index.js';

const run = promisify(execFile);

let directory: string;
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'openhands-serve-')));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

interface OpenHandsServer {
  readonly port: number;
  close(): Promise<void>;
}

interface Options extends Partial<ServeOpenHandsOptions> {
  readonly env?: Record<string, string>;
  readonly vscodePort?: number;
}

async function serve({ env = {}, vscodePort, ...options }: Options = {}): Promise<OpenHandsServer> {
  const plugins = openHandsPlugins({ vscodePort });
  const place = thisMachine(directory);
  const runtime = await createRuntime({ ...place, env, plugins, config: false, events: { store: 'memory' } });
  try {
    const server = await serveOpenHands(runtime, {
      listen: { host: '127.0.0.1', port: 0 },
      workingDirectory: runtime.workspace,
      token: 'a key',
      ...options,
    });
    const { port } = server.address as { port: number };
    return { port, close: () => Promise.all([runtime.close(), server.close()]).then(() => {}) };
  } catch (error) {
    await runtime.close();
    throw error;
  }
}

describe('a connection that breaks', () => {
  const post = (server: OpenHandsServer, command: string) => {
    const sent = httpRequest({
      port: server.port,
      host: '127.0.0.1',
      path: '/execute_action',
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', 'x-session-api-key': 'a key' },
    });
    sent.end(JSON.stringify({ action: { action: 'run', args: { command }, timeout: 30 } }));
    return sent;
  };
  const answer = async (sent: ReturnType<typeof httpRequest>) => {
    const [response] = await once(sent, 'response');
    let text = '';
    for await (const chunk of response) text += chunk;
    return JSON.parse(text) as { content: string };
  };

  test('the same request again gets the outcome of the first, which ran once', async () => {
    const server = await serve();
    try {
      const command = 'echo ran >> log; until [ -e go ]; do sleep 0.02; done; cat log';
      const lost = post(server, command);
      lost.on('error', () => {});
      while (!existsSync(join(directory, 'log'))) await new Promise((resolve) => setTimeout(resolve, 10));
      const gone = new Promise((resolve) => lost.once('close', resolve));
      lost.destroy();
      await gone;
      const again = post(server, command);
      const other = post(server, 'touch never');
      await run('touch', [join(directory, 'go')]);
      expect((await answer(again)).content).toBe('ran');
      await answer(other);
      // The client lost nothing this time, so it runs anew.
      expect((await answer(post(server, command))).content).toBe('ran\nran');
    } finally {
      await server.close();
    }
  });
});

describe('start and end', () => {
  test('a server without a shell does not open its port', async () => {
    await expect(serve({ env: { PATH: '/nowhere' } })).rejects.toMatchObject({
      code: expect.stringMatching(/shell-missing|spawn-failed/),
    });
  });

  test('closing ends a command that somebody waits for', async () => {
    const server = await serve();
    const waiting = fetch(`http://127.0.0.1:${server.port}/execute_action`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-session-api-key': 'a key' },
      body: JSON.stringify({
        action: { action: 'run', args: { command: 'touch up; sleep 1000', blocking: true } },
      }),
    }).catch(() => 'cut');
    while (!existsSync(join(directory, 'up'))) await new Promise((resolve) => setTimeout(resolve, 10));
    await server.close();
    await waiting;
  });
});

describe('the editor', () => {
  test('is where clients look for it, with the token that they are told', async () => {
    // Above those that systems give to whoever takes any.
    const vscodePort = 61_000 + randomInt(4000);
    const server = await serve({ vscodePort });
    const token = await tokenOf(server.port);
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(await tokenOf(server.port)).toBe(token);
    const at = (given: unknown) => `http://localhost:${vscodePort}/?tkn=${given}&folder=${directory}`;
    expect((await fetch(at('wrong'))).status).toBe(403);
    const entered = await fetch(at(token));
    const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
    const page = await fetch(`http://localhost:${vscodePort}/?folder=${directory}`, { headers: { cookie } });
    expect(await page.text()).toContain('vscode-workbench-web-configuration');
    await server.close();
    await expect(fetch(at(token))).rejects.toThrow();
  });

  test('whose port is taken is disabled', async () => {
    const other = await serve();
    const server = await serve({ vscodePort: other.port });
    expect(await tokenOf(server.port)).toBeNull();
    await server.close();
    await other.close();
  });

  async function tokenOf(port: number): Promise<unknown> {
    const headers = { 'x-session-api-key': 'a key' };
    const response = await fetch(`http://127.0.0.1:${port}/vscode/connection_token`, { headers });
    return ((await response.json()) as { token: unknown }).token;
  }
});

describe('exposure', () => {
  test('no key is refused unless that is said', async () => {
    for (const host of ['127.0.0.1', '0.0.0.0'])
      await expect(serve({ listen: { host, port: 0 }, token: undefined })).rejects.toMatchObject({
        code: 'invalid-config',
      });
    const server = await serve({ token: undefined, allowAnonymous: true });
    expect((await fetch(`http://127.0.0.1:${server.port}/vscode/connection_token`)).status).toBe(200);
    await server.close();
    await server.close();
  });

  test('a port that is taken is a clear error', async () => {
    const server = await serve();
    await expect(serve({ listen: { host: '127.0.0.1', port: server.port } })).rejects.toMatchObject({
      code: 'backend-unavailable',
    });
    await server.close();
  });
});
