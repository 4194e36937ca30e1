/** Where the owner's own tools reach the browser: a WebSocket on loopback that speaks the DevTools protocol. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { answerPings } from '../../../base/pings.js';
import { OwnerTokens } from '../owner-tokens.js';
import type { SharedPipe } from './shared-pipe.js';

const longestMessage = 64 * 1024 * 1024;
const mostClients = 16;

export class DevtoolsProxy {
  readonly #pipe: SharedPipe;
  readonly #server: Server;
  /** Which clients may connect: the token is the path. */
  readonly tokens = new OwnerTokens();
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: longestMessage, autoPong: false });

  private constructor(pipe: SharedPipe) {
    this.#pipe = pipe;
    this.#server = createServer((_, response) => response.writeHead(404).end());
    this.#server.on('upgrade', (request, socket, head) => {
      socket.on('error', () => {});
      if (this.#admits(request))
        this.#sockets.handleUpgrade(request, socket, head, (opened) => void this.#serve(opened));
      else socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n');
    });
    this.#server.unref();
  }

  static async open(pipe: SharedPipe): Promise<DevtoolsProxy> {
    const proxy = new DevtoolsProxy(pipe);
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once('error', reject);
      proxy.#server.listen(0, '127.0.0.1', resolve);
    });
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets.clients) socket.terminate();
  }

  /** Refuses every web page, and every client without a token as the path. */
  #admits({ url = '', headers }: IncomingMessage): boolean {
    return (
      headers.origin === undefined &&
      /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(headers.host ?? '') &&
      this.#sockets.clients.size < mostClients &&
      this.tokens.has(url.slice(1))
    );
  }

  async #serve(socket: WebSocket): Promise<void> {
    answerPings(socket);
    const early: RawData[] = [];
    const keep = (data: RawData) => void early.push(data);
    socket.on('message', keep);
    socket.on('error', () => socket.terminate());
    try {
      const client = await this.#pipe.attachClient(
        (message) => socket.send(JSON.stringify(message)),
        () => socket.close(),
      );
      const pass = (data: RawData) => {
        try {
          client.send(JSON.parse(data.toString()));
        } catch {
          socket.close(1007, 'Only JSON is understood.');
        }
      };
      socket.once('close', () => client.close());
      socket.off('message', keep);
      for (const data of early) pass(data);
      socket.on('message', pass);
    } catch {
      socket.terminate();
    }
  }
}
