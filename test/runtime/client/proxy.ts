/** A wire that a test can cut and stall: forwards every connection to a server. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Proxy extends AsyncDisposable {
  readonly url: string;
  /** How many connections there were so far. */
  readonly connections: number;
  /** Bytes that came back from the server. */
  readonly received: number;
  /** Breaks all connections of now. */
  cut(): void;
  /** Nothing gets through the current connections any more, and neither side learns it. */
  stall(): void;
  /** Refuses new connections, or takes them again. */
  refuse(refused: boolean): void;
  /** Breaks each connection once the server has sent so many bytes on it; 0 for never. */
  cutAfter(bytes: number): void;
}

export async function startProxy(port: number): Promise<Proxy> {
  const pairs = new Set<[Socket, Socket]>();
  let refused = false;
  let limit = 0;
  const proxy = { connections: 0, received: 0 };
  const server = createServer((near) => {
    proxy.connections++;
    if (refused) return void near.destroy();
    const far = connect(port, '127.0.0.1');
    const pair: [Socket, Socket] = [near, far];
    let passed = 0;
    pairs.add(pair);
    near.pipe(far);
    far.on('data', (chunk) => {
      proxy.received += chunk.length;
      passed += chunk.length;
      const excess = limit > 0 ? passed - limit : 0;
      const open = near.write(excess > 0 ? chunk.subarray(0, Math.max(0, chunk.length - excess)) : chunk);
      if (excess > 0) near.end(() => far.destroy());
      else if (!open) far.pause();
    });
    near.on('drain', () => far.resume());
    for (const [socket, other] of [pair, [far, near] as const]) {
      socket.on('error', () => {});
      socket.on('close', () => {
        pairs.delete(pair);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(proxy, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      for (const [near, far] of pairs) {
        near.resetAndDestroy();
        far.destroy();
      }
    },
    stall() {
      for (const [near, far] of pairs) {
        near.unpipe(far);
        near.pause();
        far.removeAllListeners('data');
        far.pause();
        near.removeAllListeners('drain');
      }
    },
    refuse(value: boolean) {
      refused = value;
    },
    cutAfter(bytes: number) {
      limit = bytes;
    },
    async [Symbol.asyncDispose]() {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      server.close();
    },
  });
}
