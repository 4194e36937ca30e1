/**
 * Admits the owner of a cell through a port of its place, where nothing else leads inside. Each connection is a
 * tunnel.
 */
import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { joinTunnel } from './relay.js';

export interface TunnelSettings {
  /** Of the loopback. */
  readonly port: number;
  /** Every connection in a tunnel must carry it. */
  readonly token: string;
  /** The cell ends when its owner was away for this long. Default: it waits for ever. */
  readonly aloneMs?: number | undefined;
}

/** Settles when it listens. */
export async function listenForTunnels(
  { port, token, aloneMs }: TunnelSettings,
  socketPath: string,
  onAbandoned: () => void,
): Promise<void> {
  const expected = Buffer.from(`Bearer ${token}`);
  const owners = new Set<object>();
  let waiting: NodeJS.Timeout | undefined;
  const wait = () => {
    if (aloneMs !== undefined && owners.size === 0) waiting = setTimeout(onAbandoned, aloneMs).unref();
  };
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {});
    const session = joinTunnel(socket, socketPath, ({ authorization = '' }) => {
      const given = Buffer.from(authorization);
      const isOwner = given.length === expected.length && timingSafeEqual(given, expected);
      if (isOwner) {
        owners.add(session);
        clearTimeout(waiting);
      }
      return isOwner;
    });
    session.on('error', () => {});
    session.once('close', () => {
      if (owners.delete(session)) wait();
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  wait();
}
