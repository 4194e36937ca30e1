/** A connection to a server. */
import type { Socket } from 'node:net';
import type { Host } from '../../protocol/network/host.js';

export interface Open {
  readonly host: Host;
  readonly port: number;
  readonly upstream: Socket;
  readonly granted: ReadonlySet<string>;
  /** Each request by it is judged by itself. */
  readonly isRead: boolean;
}

/** Do not count connections that we have ended, though their sockets are not closed yet. */
export function countLive(all: Iterable<Open>): number {
  let count = 0;
  for (const { upstream } of all) if (!upstream.destroyed) count++;
  return count;
}
