/** An MCP server over streamable HTTP, at `/mcp`. */
import { randomUUID } from 'node:crypto';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { FastifyReply } from 'fastify';
import { createAccess } from '../../base/http/access.js';
import { createHttpApp, type Mount, mount, protect } from '../../base/http/http-app.js';
import { toWorkcellError } from '../../base/http/http-errors.js';
import type { Exposure } from '../../base/http/http-options.js';
import { checkExposure, type HttpListener, listen, withBoundHost } from '../../base/http/listen.js';
import { errorTable, WorkcellError } from '../../protocol/index.js';

/** Clients at once; a new one replaces the one that was silent longest. */
const mostSessions = 64;

const methods = ['GET', 'POST', 'DELETE'];

/** Makes the server of one client; `session` names its shell, so that clients do not type into each other's. */
type CreateServer = (session: string) => McpServer;

export async function serveMcpOverHttp(
  create: CreateServer,
  options: Exposure,
  also: readonly Mount[] = [],
): Promise<HttpListener> {
  const mounts = [{ prefix: '', routes: mcpOverHttp(create, options) }, ...also];
  checkExposure(options, mounts);
  const app = createHttpApp({ access: createAccess(withBoundHost(options)), sendFailure: refuse });
  mount(app, mounts);
  return listen(app, options.listen);
}

/** Register it as a scope in the application of a server. */
export function mcpOverHttp(create: CreateServer, { token }: Pick<Exposure, 'token'>): Mount['routes'] {
  const access = createAccess({ token });
  const sessions = new Sessions(create);
  return (scope, { isMain }) => {
    protect(scope, ({ headers }) => access.checkToken(headers));
    scope.setErrorHandler((error, _request, reply) => refuse(reply, error));
    if (isMain)
      scope.setNotFoundHandler((_request, reply) =>
        refuse(reply, new WorkcellError('not-found', 'The MCP server is at /mcp.')),
      );
    scope.addHook('preClose', () => sessions.close());
    scope.route({
      method: methods,
      url: '/mcp',
      handler: async (request, reply) => {
        const transport = await sessions.take(request.headers['mcp-session-id']);
        reply.hijack();
        await transport.handleRequest(request.raw, reply.raw, request.body);
      },
    });
  };
}

class Sessions {
  readonly #create: CreateServer;
  readonly #known = new Map<string, StreamableHTTPServerTransport>();

  constructor(create: CreateServer) {
    this.#create = create;
  }

  /** The session of that name, or a new one for a request that names none. */
  async take(id: string | string[] | undefined): Promise<StreamableHTTPServerTransport> {
    if (id === undefined) return this.#open();
    const known = typeof id === 'string' ? this.#known.get(id) : undefined;
    if (known === undefined)
      throw new WorkcellError('session-not-found', 'There is no such session; initialize a new one.');
    this.#touch(id as string, known);
    return known;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#known.values()].map((transport) => transport.close()));
  }

  async #open(): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        this.#touch(id, transport);
        if (this.#known.size > mostSessions) void [...this.#known.values()][0]?.close();
      },
    });
    transport.onclose = () => {
      if (transport.sessionId !== undefined) this.#known.delete(transport.sessionId);
    };
    await this.#create(`client-${randomUUID()}`).connect(transport as Parameters<McpServer['connect']>[0]);
    return transport;
  }

  #touch(id: string, transport: StreamableHTTPServerTransport): void {
    this.#known.delete(id);
    this.#known.set(id, transport);
  }
}

/** In the form of JSON-RPC, with its own number for unreadable requests. */
function refuse(reply: FastifyReply, thrown: unknown): void {
  const error = toWorkcellError(thrown);
  const code = error.code === 'invalid-action' ? -32_700 : -32_000;
  void reply
    .code(errorTable[error.code].status)
    .type('application/json')
    .send(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message: error.message } }));
}
