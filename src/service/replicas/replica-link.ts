/**
 * Connections between the replicas of a service. Both sides prove in the handshake that they have the key, which only those
 * who can read the store have; what they say is encrypted.
 */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { WorkcellError } from '../../protocol/index.js';

/** Keys that both sides know beforehand exist up to this version. The exchange gives each connection keys of its own. */
const handshake = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
} as const;

const identity = 'workcell-replica';
const connectMs = 3000;

export interface Place {
  readonly host: string;
  readonly port: number;
}

export interface LinkServer {
  readonly port: number;
  /** Takes no more connections; those that are there belong to whoever got them. */
  close(): void;
}

export async function serveLink(
  listen: Place,
  secret: string,
  onConnection: (socket: TLSSocket) => void,
): Promise<LinkServer> {
  const key = keyOf(secret);
  const server = createServer(
    {
      ...handshake,
      handshakeTimeout: connectMs,
      pskCallback: (_socket, name) => (name === identity ? key : null),
    },
    onConnection,
  );
  // A stranger, or one that left before it had said who it is.
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  server.listen(listen.port, listen.host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new WorkcellError(
      'invalid-config',
      `This replica cannot listen on ${listen.host}:${listen.port} for the others: ${(cause as Error).message}. Change service.replica_listen.`,
      { cause },
    );
  }
  return {
    port: (server.address() as { port: number }).port,
    close: () => void server.close(),
  };
}

/** Connections to others; a request takes one that is idle, or a new one. */
export class LinkAgent extends Agent {
  readonly #key: Buffer;

  constructor(secret: string) {
    super({ keepAlive: true, timeout: 0 });
    this.#key = keyOf(secret);
  }

  override createConnection(
    options: { readonly host?: string | null; readonly port?: number | string | null },
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    this.connect({ host: options.host ?? '', port: Number(options.port) }).then(
      (socket) => callback?.(null, socket),
      (error: Error) => callback?.(error, undefined as unknown as Duplex),
    );
    return undefined;
  }

  /** Resolves when each side knows the other. */
  async connect({ host, port }: Place): Promise<TLSSocket> {
    const socket = connect({
      ...handshake,
      host,
      port,
      ...(isIP(host) === 0 && { servername: host }),
      pskCallback: () => ({ psk: this.#key, identity }),
      // The key says who it is.
      checkServerIdentity: () => undefined,
    });
    // Whoever uses it sees that it closes.
    socket.on('error', () => {});
    const timer = setTimeout(() => socket.destroy(new Error('it gives no answer')), connectMs);
    try {
      await once(socket, 'secureConnect');
      return socket;
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}

function keyOf(secret: string): Buffer {
  return createHmac('sha256', secret).update('replicas of a workcell service').digest();
}
