/** What an MCP client can call: the registered tools of the runtime, and its actions. */
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import type { Runtime } from '../../index.js';
import type { Progress } from '../../protocol/index.js';
import {
  type AgentTool,
  type AgentToolOptions,
  agentTool,
  agentTools,
  answer,
} from '../../runtime/tools/agent-tools.js';

export interface ToolCall {
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: Progress) => Promise<void>) | undefined;
}

export interface McpOptions extends AgentToolOptions {
  /**
   * Sends the fields of an answer as `structuredContent`, too. Some clients then show the model these instead of the text
   * and the pictures, so this is for programs.
   */
  readonly structured?: boolean | undefined;
}

export function listTools(runtime: Runtime, options: McpOptions): Tool[] {
  return agentTools(runtime, options).map(describe);
}

/** A failed call is an answer, which the model reads; only an unknown name is a protocol error. */
export async function callTool(
  runtime: Runtime,
  name: string,
  args: Record<string, unknown>,
  options: McpOptions,
  call: ToolCall,
): Promise<CallToolResult> {
  const tool = agentTool(runtime, name, options);
  const { text, pictures, facts, isError } = await answer(() => tool.call(args, call));
  return {
    content: [
      { type: 'text', text },
      ...pictures.map(({ mediaType, data }) => ({ type: 'image' as const, mimeType: mediaType, data })),
    ],
    ...(options.structured && facts !== undefined && { structuredContent: facts }),
    ...(isError && { isError }),
  };
}

function describe({ name, description, parameters, readOnly, idempotent }: AgentTool): Tool {
  return {
    name,
    description,
    inputSchema: { ...parameters, type: 'object' } as Tool['inputSchema'],
    annotations: { readOnlyHint: readOnly, destructiveHint: !readOnly, idempotentHint: idempotent },
  };
}
