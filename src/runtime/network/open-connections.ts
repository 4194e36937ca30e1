/** The connections of a cell to servers, and what passes by them. */
import type { Socket } from 'node:net';
import type { NetworkStats } from '../../protocol/cell.js';
import type { Host } from '../../protocol/network/host.js';
import type { FullNetworkRules } from '../../protocol/network/network-schema.js';
import type { Addressee } from './telling.js';

/** A connection to a server. */
export interface Open {
  readonly host: Host;
  readonly port: number;
  readonly upstream: Socket;
  readonly granted: ReadonlySet<string>;
  /** Each request by it is judged by itself. */
  readonly isRead: boolean;
  /** Whom the program speaks to, as far as it has said; it matters where the host is an address. */
  addressee: Addressee;
}

/** What passed by a connection, and why it ended, where it did not end by itself. */
interface Passed {
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly reason: string | undefined;
}

export class OpenConnections {
  readonly #all = new Set<Open>();
  #totals = { connections: 0, sentBytes: 0, receivedBytes: 0 };
  #metered = { sent: 0, received: 0 };

  add(open: Open, onClosed: (passed: Passed) => void): void {
    const { upstream } = open;
    let reason: string | undefined;
    upstream.on('error', (error) => {
      reason = error.message;
    });
    this.#all.add(open);
    this.#totals.connections++;
    upstream.once('close', () => {
      this.#all.delete(open);
      const { bytesWritten: sentBytes, bytesRead: receivedBytes } = upstream;
      this.#totals.sentBytes += sentBytes;
      this.#totals.receivedBytes += receivedBytes;
      onClosed({ sentBytes, receivedBytes, reason });
    });
  }

  /** Does not count connections that we have ended, though their sockets are not closed yet. */
  get live(): number {
    let count = 0;
    for (const { upstream } of this.#all) if (!upstream.destroyed) count++;
    return count;
  }

  stats(): Omit<NetworkStats, 'refused'> {
    const totals = { ...this.#totals };
    for (const { upstream } of this.#all) {
      totals.sentBytes += upstream.bytesWritten;
      totals.receivedBytes += upstream.bytesRead;
    }
    return totals;
  }

  /** Ends those that are so, or all. */
  end(reason?: string, isSo: (open: Open) => boolean = () => true): void {
    for (const open of this.#all)
      if (isSo(open)) open.upstream.destroy(reason === undefined ? undefined : new Error(reason));
  }

  /** Ends everything when it reaches a limit on bytes: we cannot take back what passed before. */
  meter(direction: 'sent' | 'received', bytes: number, limits: FullNetworkRules['limits']): void {
    this.#metered[direction] += bytes;
    const reason = this.spent(limits);
    if (reason !== undefined) this.end(reason);
  }

  /** Which limit on bytes the cell has reached. */
  spent({ sentBytes = Infinity, receivedBytes = Infinity }: FullNetworkRules['limits']): string | undefined {
    const { sent, received } = this.#metered;
    if (sent > sentBytes) return `the cell has sent ${sentBytes} bytes, which is its limit`;
    return received > receivedBytes
      ? `the cell has received ${receivedBytes} bytes, which is its limit`
      : undefined;
  }
}
