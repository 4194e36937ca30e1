import { createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import type { PublishedPort } from '../protocol/index.js';
import { WorkcellError } from '../protocol/index.js';

/** A port of this machine's loopback that leads to one inside the cell. */
export interface ForwardedPort extends AsyncDisposable {
  /** For servers that speak HTTP. */
  readonly url: string;
  readonly port: number;
  /** Ends the forwarding and every connection that goes through it. */
  close(): Promise<void>;
}

/** Asks for a port of the cell. Returns a function that opens a new connection each time. */
type OpenPort = (port: number) => Promise<() => Promise<NodeJS.ReadWriteStream>>;

/** Reaches servers that listen inside the cell, also when the cell has no network. */
export class RuntimePorts {
  /** Ports of the cell that the backend published on the loopback of its machine at the start. */
  readonly published: readonly PublishedPort[];
  readonly #openPort: OpenPort;
  readonly #open = new Set<ForwardedPort>();

  constructor(openPort: OpenPort, published: readonly PublishedPort[] = []) {
    this.#openPort = openPort;
    this.published = published;
  }

  /**
   * Opens a port on 127.0.0.1, free for every program of this machine, whose connections go to `port` in the cell.
   * `localPort`: which one. Default: one that is free.
   */
  async forward(
    port: number,
    { localPort }: { localPort?: number | undefined } = {},
  ): Promise<ForwardedPort> {
    checkPort(port);
    if (localPort !== undefined) checkPort(localPort);
    const connect = await this.#openPort(port);
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      socket.on('error', () => {});
      connect().then(
        (inside) => {
          pipeline(socket, inside, () => {});
          pipeline(inside, socket, () => socket.destroy());
        },
        // Nothing listens there: the caller sees what it would see with a closed port.
        () => socket.resetAndDestroy(),
      );
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', (cause: NodeJS.ErrnoException) => reject(taken(cause, localPort)));
      server.listen(localPort ?? 0, '127.0.0.1', resolve);
    });
    const { port: outside } = server.address() as { port: number };
    const close = () =>
      new Promise<void>((resolve) => {
        this.#open.delete(forwarded);
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      });
    const forwarded: ForwardedPort = {
      url: `http://127.0.0.1:${outside}`,
      port: outside,
      close,
      [Symbol.asyncDispose]: close,
    };
    this.#open.add(forwarded);
    return forwarded;
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#open].map((forwarded) => forwarded.close()));
  }
}

function checkPort(port: number): void {
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return;
  throw new WorkcellError('invalid-action', `${port} is not a port: give a whole number from 1 to 65535.`);
}

function taken(cause: NodeJS.ErrnoException, port: number | undefined): Error {
  if (cause.code !== 'EADDRINUSE') return cause;
  return new WorkcellError(
    'port-taken',
    `Something else listens at 127.0.0.1:${port}. Choose another port.`,
    {
      details: { port },
      cause,
    },
  );
}
