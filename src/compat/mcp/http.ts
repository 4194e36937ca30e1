/** The MCP server over streamable HTTP: loopback, a token, and Host and Origin checked at every request. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createAccess, isLoopback } from '../../cell/server/access.js';
import { errorTable, WorkcellError } from '../../protocol/index.js';

/** Clients that are connected at once; the one that was silent longest gives way. */
const mostSessions = 64;

export interface McpHttpOptions {
  readonly host: string;
  readonly port: number;
  readonly token: string;
  readonly allowRemote?: boolean | undefined;
  readonly hosts?: readonly string[] | undefined;
  readonly origins?: readonly string[] | undefined;
}

export interface McpHttpServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function serveMcpOverHttp(
  create: () => McpServer,
  options: McpHttpOptions,
): Promise<McpHttpServer> {
  const { host, token, origins } = options;
  if (!isLoopback(host) && !options.allowRemote) {
    throw new WorkcellError(
      'invalid-config',
      `${host} is not a loopback address, so others could reach this server. Allow that explicitly, or listen on 127.0.0.1.`,
      { details: { host } },
    );
  }
  const access = createAccess({ token, origins, hosts: [...(options.hosts ?? []), host] });
  const sessions = new Map<string, StreamableHTTPServerTransport>();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    access.checkSource(request.headers);
    access.checkToken(request.headers);
    if (new URL(request.url ?? '/', 'http://localhost').pathname !== '/mcp')
      throw new WorkcellError('not-found', 'The MCP server is at /mcp.');
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    if (id !== undefined && known === undefined)
      throw new WorkcellError('session-not-found', 'There is no such session; initialize a new one.');
    if (known !== undefined) touch(id as string, known);
    await (known ?? (await open())).handleRequest(request, response);
  }

  async function open(): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        touch(id, transport);
        if (sessions.size > mostSessions) void [...sessions.values()][0]?.close();
      },
    });
    transport.onclose = () => {
      if (transport.sessionId !== undefined) sessions.delete(transport.sessionId);
    };
    await create().connect(transport as Parameters<McpServer['connect']>[0]);
    return transport;
  }

  function touch(id: string, transport: StreamableHTTPServerTransport): void {
    sessions.delete(id);
    sessions.set(id, transport);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => refuse(response, error));
  });
  server.listen(options.port, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/mcp`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      await Promise.all([...sessions.values()].map((transport) => transport.close()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return void response.destroy();
  const known = WorkcellError.isInstance(error)
    ? error
    : new WorkcellError('internal', 'The request could not be answered.');
  response.writeHead(errorTable[known.code].status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message: known.message } }));
}
