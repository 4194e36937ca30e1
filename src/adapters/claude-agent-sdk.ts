/** A runtime for the Claude Agent SDK, which takes tools as MCP servers; this one lives in the same process. */
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { createMcpServer } from '../compat/mcp/mcp-server.js';
import type { Runtime } from '../index.js';
import type { AgentToolOptions } from '../runtime/tools/agent-tools.js';

/** An MCP server in this process, as an entry of the SDK's `mcpServers`. */
export interface ClaudeMcpServer {
  readonly type: 'sdk';
  readonly name: string;
  readonly instance: McpServer;
}

/** An entry of the SDK's `mcpServers`; under the name `workcell` its tools are `mcp__workcell__run` and so on. */
export function claudeMcpServer(runtime: Runtime, options: AgentToolOptions = {}): ClaudeMcpServer {
  return { type: 'sdk', name: 'workcell', instance: createMcpServer(runtime, options) };
}
