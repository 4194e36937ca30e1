/** Where the owner's own tools reach the browser: a WebSocket on loopback that speaks the DevTools protocol. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { OwnerTokens } from '../owner-tokens.js';
import type { SharedPipe } from './share.js';

const longestMessage = 64 * 1024 * 1024;
const mostGuests = 16;

export class Door {
  readonly #pipe: SharedPipe;
  readonly #server: Server;
  /** Who may come in: the token is the path. */
  readonly tokens = new OwnerTokens();
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: longestMessage });

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

  static async open(pipe: SharedPipe): Promise<Door> {
    const door = new Door(pipe);
    await new Promise<void>((resolve, reject) => {
      door.#server.once('error', reject);
      door.#server.listen(0, '127.0.0.1', resolve);
    });
    return door;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets.clients) socket.terminate();
  }

  /** No web page is let in, whatever it knows, and nobody without a token as the path. */
  #admits({ url = '', headers }: IncomingMessage): boolean {
    return (
      headers.origin === undefined &&
      /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(headers.host ?? '') &&
      this.#sockets.clients.size < mostGuests &&
      this.tokens.has(url.slice(1))
    );
  }

  async #serve(socket: WebSocket): Promise<void> {
    const early: RawData[] = [];
    const keep = (data: RawData) => void early.push(data);
    socket.on('message', keep);
    socket.on('error', () => socket.terminate());
    try {
      const guest = await this.#pipe.invite(
        (message) => socket.send(JSON.stringify(message)),
        () => socket.close(),
      );
      const pass = (data: RawData) => {
        try {
          guest.send(JSON.parse(data.toString()));
        } catch {
          socket.close(1007, 'Only JSON is understood.');
        }
      };
      socket.once('close', () => guest.close());
      socket.off('message', keep);
      for (const data of early) pass(data);
      socket.on('message', pass);
    } catch {
      socket.terminate();
    }
  }
}
