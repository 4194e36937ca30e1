import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { WorkcellError } from '../../../protocol/index.js';

/**
 * Turns a failure between us and an MCP server into one of our own errors. `complaint`: the server's standard error.
 */
export function describeFailure(server: string, error: unknown, complaint: string): WorkcellError {
  if (WorkcellError.isInstance(error)) return error;
  const message = withoutPaths(error instanceof Error ? error.message : String(error));
  const details = { server };
  if (error instanceof McpError) {
    if (error.code === ErrorCode.RequestTimeout) return notInTime(server);
    if (error.code !== ErrorCode.ConnectionClosed)
      return new WorkcellError('mcp-failed', `MCP server "${server}" refused: ${message}`, { details });
  }
  if (error instanceof Error && error.name === 'AbortError')
    return new WorkcellError('cancelled', 'The call was cancelled.', { details });
  const said = complaint === '' ? '' : ` It wrote: ${complaint}`;
  return new WorkcellError('mcp-failed', `MCP server "${server}" cannot be used: ${reason(error)}.${said}`, {
    details,
    cause: error,
  });
}

export function notInTime(server: string): WorkcellError {
  return new WorkcellError('timed-out', `MCP server "${server}" did not answer in time.`, {
    details: { server },
  });
}

/** undici hides what happened in the cause. */
function reason(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: unknown };
  const own = message ?? String(error);
  return withoutPaths(cause instanceof Error ? `${own}: ${cause.message}` : own);
}

/** Shows addresses by their origin: the rest may hold a key of the owner, and the agent reads this. */
function withoutPaths(text: string): string {
  return text.replace(/\bhttps?:\/\/[^\s"'<>]+/gi, (address) =>
    URL.canParse(address) ? new URL(address).origin : 'its address',
  );
}
