/** The MCP proxy of a server: stdio servers that clients name, together behind one SSE endpoint. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { type Executor, type Observation, WorkcellError } from '../../../protocol/index.js';
import { failureText } from '../../failure-messages.js';
import type { Say } from '../../messages.js';
import { HttpError } from '../http-error.js';
import { words } from '../openhands-words.js';
import { perform } from '../perform-action.js';
import { parseServers } from './mcp-server-update.js';

export interface McpUpdate {
  readonly detail: string;
  /** Why servers do not work; their failure is no failure of the request. */
  readonly router_error_log: string;
}

type ListedTool = Observation<'list_mcp_tools'>['tools'][number];

export class McpProxy {
  readonly #executor: Executor;
  readonly #say: Say;
  readonly #clients = new Map<string, SSEServerTransport>();
  #names: string[] = [];

  constructor(executor: Executor, say: Say) {
    this.#executor = executor;
    this.#say = say;
  }

  /** The new list takes the place of the old one. */
  async update(body: unknown): Promise<McpUpdate> {
    const servers = parseServers(body);
    for (const server of this.#names) if (!Object.hasOwn(servers, server)) await this.#disconnect(server);
    const names = Object.keys(servers);
    const connected =
      names.length === 0 ? [] : (await perform(this.#executor, { action: 'connect_mcp', servers })).servers;
    this.#names = names;
    const failures = connected
      .filter(({ state }) => state === 'failed')
      .map(({ reason = '' }) => this.#say(words('mcp.failed', { reason })));
    return {
      detail: this.#say(words('mcp.taken', { servers: names.join(', ') || words('mcp.none') })),
      router_error_log: failures.join('\n'),
    };
  }

  /** Opens the stream of one client. Messages of the client come by `receive`. */
  async open(response: ServerResponse): Promise<void> {
    if (this.#names.length === 0) throw new HttpError(404, words('http.not_found'));
    const { SSEServerTransport } = await import('@modelcontextprotocol/sdk/server/sse.js');
    const transport = new SSEServerTransport('/messages/', response);
    this.#clients.set(transport.sessionId, transport);
    response.once('close', () => this.#clients.delete(transport.sessionId));
    await (await this.#createServer()).connect(transport);
  }

  async receive(
    id: unknown,
    request: IncomingMessage,
    response: ServerResponse,
    body: unknown,
  ): Promise<void> {
    const transport = this.#clients.get(String(id));
    if (transport === undefined) throw new HttpError(404, words('http.not_found'));
    await transport.handlePostMessage(request, response, body);
  }

  async #createServer(): Promise<Server> {
    const { Server } = await import('@modelcontextprotocol/sdk/server/index.js');
    const { CallToolRequestSchema, ListToolsRequestSchema } = await import(
      '@modelcontextprotocol/sdk/types.js'
    );
    const server = new Server({ name: 'workcell', version: '1.0.0' }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: await this.#tools() }));
    server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
      this.#call(params.name, params.arguments ?? {}),
    );
    return server;
  }

  async #tools(): Promise<Tool[]> {
    return (await this.#ownTools()).map((tool) => ({
      name: this.#exposedName(tool),
      description: tool.description,
      inputSchema: tool.inputSchema as Tool['inputSchema'],
      annotations: tool.annotations,
    }));
  }

  async #call(exposed: string, args: Record<string, unknown>): Promise<CallToolResult> {
    const tool = (await this.#ownTools()).find((candidate) => this.#exposedName(candidate) === exposed);
    if (tool === undefined) return failure(this.#say(words('mcp.unknown_tool', { tool: exposed })));
    try {
      const { server, name } = tool;
      const result = await perform(this.#executor, {
        action: 'call_tool_mcp',
        server,
        name,
        arguments: args,
      });
      const { content, structuredContent, isError } = result;
      return { content, structuredContent, isError } as CallToolResult;
    } catch (error) {
      if (!WorkcellError.isInstance(error)) throw error;
      return failure(this.#say(failureText(error)));
    }
  }

  /** Those of the client's servers. The operator's servers carry the operator's credentials. */
  async #ownTools(): Promise<ListedTool[]> {
    const { tools } = await perform(this.#executor, { action: 'list_mcp_tools' });
    return tools.filter(({ server }) => this.#names.includes(server));
  }

  /** One that an earlier update already took away is no failure. */
  async #disconnect(server: string): Promise<void> {
    try {
      await perform(this.#executor, { action: 'disconnect_mcp', server });
    } catch (error) {
      if (!WorkcellError.isInstance(error) || error.code !== 'tool-not-found') throw error;
    }
  }

  /** With several servers, the name of the server comes before the name of the tool. */
  #exposedName({ server, name }: ListedTool): string {
    return this.#names.length > 1 ? `${server}_${name}` : name;
  }
}

function failure(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text }] };
}
