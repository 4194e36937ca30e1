/** Further protocols on the address of a server: `--also`. */
import { type Command, Option } from 'commander';
import type { Mount } from '../base/http/http-app.js';
import type { Runtime } from '../index.js';

const protocols = ['mcp', 'openhands-v0'] as const;

export interface AlsoOptions {
  also: (typeof protocols)[number][];
}

export function withAlso(command: Command): Command {
  return command.addOption(
    new Option('--also <protocols...>', 'also serve these: MCP at /mcp, OpenHands V0 below /openhands-v0')
      .choices(protocols)
      .default([]),
  );
}

/** They work on the same runtime and want the same token. */
export function mountsOf(
  { also }: AlsoOptions,
  runtime: Runtime,
  token: string | undefined,
): Promise<Mount[]> {
  return Promise.all([...new Set(also)].map((protocol) => mounts[protocol](runtime, token)));
}

const mounts: Record<
  (typeof protocols)[number],
  (runtime: Runtime, token: string | undefined) => Promise<Mount>
> = {
  async mcp(runtime, token) {
    const { mcpOverHttp } = await import('../compat/mcp/http.js');
    const { createMcpServer } = await import('../compat/mcp/mcp-server.js');
    return { prefix: '', routes: mcpOverHttp(() => createMcpServer(runtime, {}), { token }) };
  },
  async 'openhands-v0'(runtime, token) {
    const { openHandsV0 } = await import('../compat/openhands-v0/openhands-v0-app.js');
    const routes = openHandsV0(runtime, { token, workingDirectory: runtime.workspace });
    return { prefix: '/openhands-v0', routes };
  },
};
