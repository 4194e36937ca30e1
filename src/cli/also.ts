/** `--also`: one server speaks several protocols on one address. */
import { type Command, Option } from 'commander';
import { collect } from '../base/command-line.js';
import type { Mount } from '../base/http/http-app.js';
import { type Exposure, lenientToken } from '../base/http/http-options.js';
import type { Runtime } from '../index.js';

const protocols = ['native', 'mcp', 'openhands-v0', 'openhands-v1', 'camel'] as const;

type Protocol = (typeof protocols)[number];

export interface AlsoOptions {
  also: Protocol[];
  entry: string[];
}

/** `own`: the protocol that the command serves itself. */
export function withAlso(command: Command, own: Protocol): Command {
  const others = protocols.filter((protocol) => protocol !== own);
  return command
    .addOption(
      new Option('--also <protocols...>', 'also serve these: MCP at /mcp, others below /<name>')
        .choices(others)
        .default([]),
    )
    .option('--entry <module>', 'module with more tools, for MCP and CAMEL; may be repeated', collect, []);
}

/** Registers the tools of entry points, for servers that offer tools. */
export async function addTools(runtime: Runtime, entries: readonly string[]): Promise<void> {
  for (const entry of entries) runtime.add(await runtime.findTools(entry));
}

type Token = Exposure['token'];

/** They work on the same runtime and want the same token, or one of the same tokens. */
export function mountsOf(options: AlsoOptions, runtime: Runtime, token: Token): Promise<Mount[]> {
  const asked = [...new Set(options.also)];
  return Promise.all(asked.map((protocol) => mounts[protocol](runtime, token, options)));
}

const mounts: Record<Protocol, (runtime: Runtime, token: Token, options: AlsoOptions) => Promise<Mount>> = {
  async native(runtime, token) {
    const { mountExecutor } = await import('../cell/server/serve-executor.js');
    const { id, workspace, isolation } = runtime;
    return mountExecutor('/native', runtime, { token, id, workspace, isolation });
  },
  async mcp(runtime, token) {
    const { mcpOverHttp } = await import('../compat/mcp/http.js');
    const { createMcpServer } = await import('../compat/mcp/mcp-server.js');
    return { prefix: '', routes: mcpOverHttp((session) => createMcpServer(runtime, { session }), { token }) };
  },
  async 'openhands-v0'(runtime, token) {
    const { openHandsV0 } = await import('../compat/openhands-v0/openhands-v0-app.js');
    const routes = openHandsV0(runtime, { token, workingDirectory: runtime.workspace });
    return { prefix: '/openhands-v0', token: lenientToken, routes };
  },
  async 'openhands-v1'(runtime, token) {
    const { openHandsV1 } = await import('../compat/openhands-v1/facade.js');
    const { id, workspace, vscode } = runtime;
    const sessionApiKeys = token === undefined ? [] : [token].flat();
    const routes = openHandsV1({ sessionApiKeys, vscode });
    const parts = { executor: () => runtime, id, workspace };
    return { prefix: '/openhands-v1', sockets: true, routes: (scope) => routes(scope, parts) };
  },
  async camel(runtime, token, { entry: toolkits }) {
    const { camelTools } = await import('../compat/camel/camel-app.js');
    const routes = camelTools(runtime, { token, toolkits, tools: runtime.getTools() });
    return { prefix: '/camel', token: lenientToken, routes };
  },
};
