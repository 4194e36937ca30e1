/** Stands in for E2B: our own service, behind a server that fails on request. */
import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type E2bService, startE2bService } from '../../compat/e2b/e2b-service.js';
import { type Cloud, Faults, send } from './stand-in.js';

export class E2bStandIn implements Cloud {
  readonly faults = new Faults();
  readonly forbidden: string[] = [];
  readonly #server = createServer((request, response) => this.#pass(request, response));
  readonly #sockets = new Set<Socket>();
  #service: E2bService | undefined;
  url = '';

  get key(): string {
    return this.#inner.connection.apiKey;
  }

  get #inner(): E2bService {
    if (this.#service === undefined) throw new Error('not started');
    return this.#service;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async start(): Promise<this> {
    this.#service = await startE2bService();
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket as Socket, head));
    // A busy client meets no connection that closes as it asks.
    this.#server.keepAliveTimeout = 0;
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await this.#service?.close();
  }

  async left(): Promise<string[]> {
    const listed = (await (await this.ask('GET', '/v2/sandboxes?limit=100')).json()) as {
      sandboxID: string;
    }[];
    return listed.map(({ sandboxID }) => sandboxID);
  }

  async end(id: string): Promise<void> {
    await this.ask('DELETE', `/sandboxes/${id}`);
  }

  /** Asks it as another program with the key does. */
  ask(method: string, path: string, body?: object): Promise<Response> {
    const headers = { 'x-api-key': this.key, ...(body && { 'content-type': 'application/json' }) };
    return fetch(`${this.#inner.url}${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const { method = 'GET', url = '/' } = request;
    const fault = this.faults.take({ method, path: new URL(url, 'http://x').pathname });
    if (fault === 'hang') return;
    if (fault === 'cut') {
      request.socket.destroy();
      return;
    }
    if (fault !== undefined) {
      send(response, fault);
      return;
    }
    const { host } = new URL(this.#inner.url);
    const headers = { ...request.headers, host };
    const inner = httpRequest(`${this.#inner.url}${url}`, { method, headers, agent: false });
    inner.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.on('error', () => response.destroy());
      answer.pipe(response);
    });
    inner.on('error', () => response.destroy());
    response.on('close', () => inner.destroy());
    request.pipe(inner);
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const { hostname, port, host } = new URL(this.#inner.url);
    const inner = connect(Number(port), hostname);
    const lines = request.rawHeaders.flatMap((name, index, all) =>
      index % 2 === 0 ? [`${name}: ${name.toLowerCase() === 'host' ? host : all[index + 1]}`] : [],
    );
    inner.write(`${request.method} ${request.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    inner.write(head);
    socket.pipe(inner).pipe(socket);
    for (const one of [socket, inner])
      one.on('error', () => {}).on('close', () => [socket, inner].map((s) => s.destroy()));
  }
}
