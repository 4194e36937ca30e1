/** The MCP proxy of a server: stdio servers that clients name, together behind one SSE endpoint. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { type Executor, type Observation, WorkcellError } from '../../../protocol/index.js';
import { failureText } from '../../failure-messages.js';
import type { Say, Text } from '../../messages.js';
import { HttpError } from '../http-error.js';
import { words } from '../openhands-words.js';
import { perform } from '../perform-action.js';
import { parseServers, type StdioServer } from './mcp-server-update.js';

export interface McpUpdate {
  readonly detail: string;
  /** Why servers do not work; their failure is no failure of the request. */
  readonly router_error_log: string;
}

type Connected = Observation<'connect_mcp'>['servers'];
type ListedTool = Observation<'list_mcp_tools'>['tools'][number];

/** Of a server in a cell. */
const longestName = 64;

export class McpProxy {
  readonly #executor: Executor;
  readonly #say: Say;
  readonly #clients = new Map<string, SSEServerTransport>();
  /**
   * Before the names of the client's servers in the cell. A server of the operator carries the operator's credentials;
   * nobody can guess this, so no name that a client chooses means one of those.
   */
  readonly #prefix = `client-${randomBytes(4).toString('hex')}.`;
  /** As the cell knows them. */
  #names: string[] = [];
  #lastUpdate: Promise<unknown> = Promise.resolve();
  readonly #closing = new AbortController();

  constructor(executor: Executor, say: Say) {
    this.#executor = executor;
    this.#say = say;
  }

  /** The new list takes the place of the old one. One update begins when the one before has ended. */
  async update(body: unknown): Promise<McpUpdate> {
    const wanted = parseServers(body, longestName - this.#prefix.length);
    const updated = this.#lastUpdate.then(() => this.#replace(wanted));
    this.#lastUpdate = updated.catch(() => {});
    return updated;
  }

  async #replace(wanted: Readonly<Record<string, StdioServer>>): Promise<McpUpdate> {
    const servers = Object.fromEntries(
      Object.entries(wanted).map(([name, server]) => [this.#prefix + name, server]),
    );
    for (const server of this.#names) if (!Object.hasOwn(servers, server)) await this.#disconnect(server);
    const names = Object.keys(servers);
    const connected = names.length === 0 ? [] : await this.#connect(servers);
    this.#names = names;
    const failures = connected
      .filter(({ state }) => state === 'failed')
      .map(({ reason = '' }) => this.#tell(words('mcp.failed', { reason })));
    return {
      detail: this.#say(words('mcp.taken', { servers: Object.keys(wanted).join(', ') || words('mcp.none') })),
      router_error_log: failures.join('\n'),
    };
  }

  async #connect(servers: Readonly<Record<string, StdioServer>>): Promise<Connected> {
    // A signal for each update, because connections keep their listeners on it.
    const context = { signal: AbortSignal.any([this.#closing.signal]) };
    return (await perform(this.#executor, { action: 'connect_mcp', servers }, context)).servers;
  }

  /** Ends the servers, which would stay in a cell that outlives this proxy. */
  async close(): Promise<void> {
    this.#closing.abort();
    try {
      await this.update([]);
    } catch (error) {
      // A closed runtime has ended them.
      if (!WorkcellError.isInstance(error)) throw error;
    }
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
      return failure(this.#tell(failureText(error)));
    }
  }

  /** Those of the client's servers. */
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
    return this.#names.length > 1 ? `${server.slice(this.#prefix.length)}_${name}` : name;
  }

  /** With the names that the client gave its servers. */
  #tell(text: Text): string {
    return this.#say(text).replaceAll(this.#prefix, '');
  }
}

function failure(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text }] };
}
