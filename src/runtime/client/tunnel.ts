/** Many connections through one stream of bytes: the near end of `src/cell/server/relay.ts`. */
import { type ClientHttp2Session, connect as connectSession } from 'node:http2';
import type { Duplex } from 'node:stream';
import { tunnelWindowBytes } from '../../protocol/wire.js';
import type { Connect } from './connect-ways.js';

/** Many connections in one stream. */
export interface Tunnel {
  readonly connect: Connect;
  /** Settles when the stream below has ended. */
  readonly closed: Promise<void>;
  close(): void;
}

/**
 * `stream`: the standard streams of the executor's program, run as `relay <socket>` in the place, or a connection to the
 * port of its setting `tunnel`, which wants the token of that.
 */
export function openTunnel(stream: Duplex, token?: string): Tunnel {
  const session = connectSession('http://cell', {
    createConnection: () => stream,
    settings: { initialWindowSize: tunnelWindowBytes, enablePush: false },
  });
  session.setMaxListeners(0);
  session.once('connect', () => session.setLocalWindowSize(tunnelWindowBytes));
  session.on('error', () => {});
  // A session notices the end of what is below it, not that somebody destroyed it.
  stream.once('close', () => session.destroy());
  const closed = new Promise<void>((resolve) => session.once('close', () => resolve()));
  return {
    closed,
    connect: () => openConnection(session, token),
    close() {
      session.destroy();
      stream.destroy();
    },
  };
}

function openConnection(session: ClientHttp2Session, token: string | undefined): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    if (session.destroyed) {
      reject(Object.assign(new Error('the stream into the cell has ended'), { code: 'ECONNRESET' }));
      return;
    }
    const stream = session.request(
      {
        ':method': 'CONNECT',
        ':authority': 'executor',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      { endStream: false },
    );
    stream.once('error', reject);
    stream.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNREFUSED' })));
    stream.once('response', ({ ':status': status }) => {
      if (status !== 200) {
        stream.destroy();
        reject(Object.assign(new Error('the cell does not know this owner'), { code: 'ECONNREFUSED' }));
        return;
      }
      stream.off('error', reject);
      stream.on('error', () => {});
      resolve(stream);
    });
  });
}
