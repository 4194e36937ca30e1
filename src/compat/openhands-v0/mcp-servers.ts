/** `/update_mcp_server`: checks the list of MCP servers. There is no proxy that could start them. */
import { z } from 'zod';
import { describeIssues } from '../../protocol/index.js';
import { HttpError } from './http-error.js';
import { disabled } from './messages.js';

const serverSchema = z.object({
  name: z.string().regex(/^[A-Za-z0-9_-]+$/, 'must be letters, digits, underscores and hyphens'),
  command: z.string().regex(/^\S+$/, 'must be one word'),
  args: z.union([z.array(z.string()), z.string()]).default([]),
  env: z.union([z.record(z.string(), z.string()), z.string()]).default({}),
});

export interface McpUpdate {
  readonly detail: string;
  /** Why servers cannot be used; a failure of theirs is not one of the request. */
  readonly router_error_log: string;
}

export function updateMcpServers(body: unknown): McpUpdate {
  if (!Array.isArray(body)) throw new HttpError(400, 'The body must be a list of MCP servers.');
  const result = z.array(serverSchema).safeParse(body);
  if (!result.success)
    throw new HttpError(400, `The list of MCP servers does not fit: ${describeIssues(result.error)}.`);
  return {
    detail: 'The list of MCP servers was taken.',
    router_error_log: body.length === 0 ? '' : disabled.mcp,
  };
}
