/** MCP servers that the owner of a runtime has named: connected when MCP is first used, because most work needs none. */
import { WorkcellError } from '../protocol/index.js';
import type { McpServers } from '../protocol/mcp-server-schema.js';
import type { Trusted } from './pipeline.js';

/** What the pipeline does before the actions that need the servers. One that cannot be used fails the action, and is tried again. */
export function connectWhenUsed(servers: McpServers | undefined): Pick<Trusted, 'before'> {
  if (servers === undefined || Object.keys(servers).length === 0) return {};
  let connected: Promise<void> | undefined;
  return {
    before(action, take) {
      if (action !== 'list_mcp_tools' && action !== 'call_tool_mcp') return undefined;
      connected ??= connect(servers, take).catch((error: unknown) => {
        connected = undefined;
        throw error;
      });
      return connected;
    },
  };
}

async function connect(
  servers: McpServers,
  take: Parameters<NonNullable<Trusted['before']>>[1],
): Promise<void> {
  const answer = await take({ action: 'connect_mcp', servers });
  const failed = answer.servers.filter(({ state }) => state === 'failed');
  if (failed.length === 0) return;
  throw new WorkcellError('mcp-failed', failed.map(({ reason }) => reason).join(' '), {
    details: { servers: answer.servers },
  });
}
