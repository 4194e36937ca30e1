/**
 * MCP servers of a runtime: they run in the cell, or the cell connects to them, and you can hand their tools to an
 * agent.
 */
import type { McpTool } from '../../cell/plugins/mcp/mcp-actions.js';
import { type ActionInput, type Observation, WorkcellError } from '../../protocol/index.js';
import type { FunctionTool } from '../tools/function-tool.js';
import type { Call, OwnVerbs } from '../verb-call.js';

type Servers = Extract<ActionInput, { action: 'connect_mcp' }>['servers'];
type CallOptions = Omit<
  Extract<ActionInput, { action: 'call_tool_mcp' }>,
  'action' | 'name' | 'arguments'
> & {
  signal?: AbortSignal | undefined;
};

/** Names of tools as models take them. */
const longestName = 64;

/** MCP servers in the cell, on a Runtime. */
export interface McpVerbs {
  readonly mcp: RuntimeMcp;
}

export const mcpVerbs: OwnVerbs<McpVerbs> = {
  mcp: (runtime) => new RuntimeMcp(runtime),
};

class RuntimeMcp {
  readonly #call: Pick<Call, 'execute'>;

  constructor(call: Pick<Call, 'execute'>) {
    this.#call = call;
  }

  /** Connects servers, by name or as the content of a common configuration file. Throws when one does not work. */
  async connect(
    config: Servers | { readonly mcpServers: Servers },
    options: { timeoutMs?: number; signal?: AbortSignal } = {},
  ): Promise<Observation<'connect_mcp'>['servers']> {
    const servers = ('mcpServers' in config ? config.mcpServers : config) as Servers;
    const { timeoutMs, signal } = options;
    const answer = await this.#call.execute({ action: 'connect_mcp', servers, timeoutMs }, { signal });
    const failed = answer.servers.filter(({ state }) => state === 'failed');
    if (failed.length === 0) return answer.servers;
    throw new WorkcellError('mcp-failed', failed.map(({ reason }) => reason).join(' '), {
      details: { servers: answer.servers },
    });
  }

  async disconnect(server: string): Promise<void> {
    await this.#call.execute({ action: 'disconnect_mcp', server });
  }

  async servers(): Promise<Observation<'list_mcp_tools'>['servers']> {
    return (await this.#call.execute({ action: 'list_mcp_tools' })).servers;
  }

  call(
    name: string,
    args: Record<string, unknown> = {},
    { signal, ...options }: CallOptions = {},
  ): Promise<Observation<'call_tool_mcp'>> {
    return this.#call.execute({ action: 'call_tool_mcp', name, arguments: args, ...options }, { signal });
  }

  /** Every tool of every server, for an agent. Where two have the same name, the server's comes before it. */
  async tools(): Promise<FunctionTool[]> {
    const { tool } = await import('../tools/function-tool.js');
    const { tools } = await this.#call.execute({ action: 'list_mcp_tools' });
    return tools.map((given) => {
      const { server, name, description = '', inputSchema, annotations } = given;
      return tool({
        name: exposedName(given, tools),
        description,
        parameters: inputSchema,
        readOnly: annotations?.readOnlyHint === true,
        execute: (input, { signal }) => this.call(name, input as Record<string, unknown>, { server, signal }),
      }) as FunctionTool;
    });
  }
}

function exposedName({ server, name }: McpTool, tools: readonly McpTool[]): string {
  const isShared = tools.filter((tool) => tool.name === name).length > 1;
  return (isShared ? `${server}_${name}` : name).replace(/[^\w-]/g, '_').slice(0, longestName);
}
