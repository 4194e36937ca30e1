import * as z from 'zod';
import { timeoutSchema } from '../../../protocol/actions/common.js';
import { defineAction } from '../../../protocol/index.js';
import {
  mcpServerNameSchema,
  type mcpServerSchema,
  mcpServersSchema,
} from '../../../protocol/mcp-server-schema.js';

export type ServerConfig = z.output<typeof mcpServerSchema>;

const serverKinds = {
  type: 'plain',
  command: { kind: 'argv', rest: 'args' },
  args: 'part',
  env: 'environment',
  cwd: 'path-cwd',
  url: 'address',
  headers: { values: 'secret' },
} as const;

const serverInfoSchema = z.object({
  name: z.string(),
  state: z.enum(['connected', 'failed']),
  /** Why there is no connection. */
  reason: z.string().optional(),
  tools: z.int(),
});

const connectMcp = defineAction('connect_mcp', {
  summary: 'Connects MCP servers: programs started in the cell, or servers reached from inside it.',
  offered: 'by-name',
  startsProcess: true,
  get input() {
    return {
      /** By name, as in the `mcpServers` of common configuration files. It replaces a connected one. */
      servers: mcpServersSchema,
      timeoutMs: timeoutSchema.default(30_000),
    };
  },
  kinds: { servers: { values: { fields: serverKinds } } },
  output: { servers: z.array(serverInfoSchema) },
});

const disconnectMcp = defineAction('disconnect_mcp', {
  summary: 'Disconnects an MCP server; one that runs in the cell ends.',
  offered: 'by-name',
  input: { server: mcpServerNameSchema },
  kinds: { server: 'plain' },
  output: { server: z.string() },
});

const toolSchema = z.object({
  server: z.string(),
  name: z.string(),
  description: z.string().optional(),
  inputSchema: z.record(z.string(), z.unknown()),
  annotations: z.record(z.string(), z.unknown()).optional(),
});

export type McpTool = z.infer<typeof toolSchema>;

const listMcpTools = defineAction('list_mcp_tools', {
  summary: 'Lists the tools of the connected MCP servers. You may call what the last list shows.',
  offered: 'by-name',
  readOnly: true,
  input: { server: mcpServerNameSchema.optional() },
  kinds: { server: 'plain' },
  output: { tools: z.array(toolSchema), servers: z.array(serverInfoSchema) },
});

export const callToolMcp = defineAction('call_tool_mcp', {
  summary: 'Calls a tool of a connected MCP server.',
  offered: 'by-name',
  get input() {
    return {
      name: z.string().min(1).max(256),
      arguments: z.record(z.string(), z.unknown()).default({}),
      /** Needed when several servers have a tool of that name. */
      server: mcpServerNameSchema.optional(),
      timeoutMs: timeoutSchema.default(60_000),
    };
  },
  kinds: { name: 'tool', arguments: 'arguments', server: 'plain' },
  get output() {
    return {
      server: z.string(),
      name: z.string(),
      /** Text, images, audio and resources, as MCP has them. */
      content: z.array(z.looseObject({ type: z.string() })),
      structuredContent: z.record(z.string(), z.unknown()).optional(),
      /** True when the tool itself says that it failed. */
      isError: z.boolean(),
    };
  },
});

export const mcpActions = {
  connect_mcp: connectMcp,
  disconnect_mcp: disconnectMcp,
  list_mcp_tools: listMcpTools,
  call_tool_mcp: callToolMcp,
};
