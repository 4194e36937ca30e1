/** A server on a real port of this machine, with a cell without isolation behind it. */
import { randomBytes } from 'node:crypto';
import cli from '../../../src/backends/cli.js';
import { loadPlugins } from '../../../src/cell/plugins/load-plugins.js';
import {
  type OpenHandsV1Options,
  serveOpenHandsV1,
} from '../../../src/compat/openhands-v1/serve-openhands-v1.js';
import type { Cell } from '../../../src/protocol/index.js';
import { RuntimePorts } from '../../../src/runtime/runtime-ports.js';
import { callOf, portsOf } from '../../../src/runtime/verb-call.js';
import { RuntimeVscode } from '../../../src/runtime/verbs/vscode-verbs.js';

export interface TestServer extends AsyncDisposable {
  readonly host: string;
  readonly apiKey: string;
  readonly workspace: string;
  /** A request with the key, unless the headers say otherwise. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

export async function startServer({
  editor,
  ...options
}: Partial<OpenHandsV1Options> & { editor?: { program?: string } } = {}): Promise<TestServer> {
  const apiKey = options.sessionApiKeys?.[0] ?? randomBytes(16).toString('hex');
  const plugins = editor && (await loadPlugins([{ name: 'vscode', options: editor }]));
  const cell = await cli.start({}, { id: 'test', onStatus: () => {}, plugins });
  const { executor } = cell;
  const vscode =
    editor && new RuntimeVscode({ ...callOf(executor), ports: new RuntimePorts(portsOf(executor)) });
  const server = await serve(cell, apiKey, { vscode, ...options });
  const { port } = server.address as { port: number };
  const host = `http://127.0.0.1:${port}`;
  return {
    host,
    apiKey,
    workspace: cell.workspace,
    fetch: (path, init = {}) =>
      fetch(`${host}${path}`, { ...init, headers: { 'x-session-api-key': apiKey, ...init.headers } }),
    async [Symbol.asyncDispose]() {
      await server.close();
      await cell.stop();
    },
  };
}

async function serve(cell: Cell, apiKey: string, options: Partial<OpenHandsV1Options>) {
  try {
    return await serveOpenHandsV1(cell.executor, {
      sessionApiKeys: [apiKey],
      ...options,
      listen: { host: '127.0.0.1', port: 0 },
      workspace: cell.workspace,
      isolation: cell.isolation,
    });
  } catch (error) {
    await cell.stop();
    throw error;
  }
}
