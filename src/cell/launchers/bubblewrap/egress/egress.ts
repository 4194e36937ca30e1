/**
 * Listens in the network namespace of a cell for every outgoing connection and name query, and passes it to the
 * {@link Egress}.
 */
import type { Server, Socket } from 'node:net';
import { type CellSocket, openInside, type SocketName, serveTcp, serveUdp } from './cell-sockets.js';

/** Decides what a cell reaches. */
export interface Egress {
  /** Returns the ports to listen on, and calls `onPorts` when they change. */
  bind(onPorts: (ports: readonly number[]) => Promise<void>): readonly number[];
  /** Takes a connection, with the address that the program connected to. */
  accept(socket: Socket, destination: { readonly address: string; readonly port: number }): void;
  /** The reply to a DNS message. */
  query(message: Buffer): Promise<Buffer | undefined>;
  /** Ends every connection. */
  close(): void;
}

/** The resolver that a cell with an egress sees. Every other resolver that it asks leads here, too. */
export const resolverConfiguration = 'nameserver 127.0.0.1\noptions timeout:10 attempts:2\n';

/** Ports of the loopback that programs may look for a proxy at. */
const proxyPorts = [3128, 1080];

/**
 * `inside`: a process in the namespaces of the cell with power over them, of which the cell itself has none; or the path
 * of its network namespace.
 */
export async function openEgress(inside: number | string, egress: Egress): Promise<() => void> {
  const servers = new Map<number, Server>();
  let closed = false;

  function serve(port: number, socket: CellSocket | undefined): void {
    if (socket === undefined) return;
    servers.set(
      port,
      serveTcp(socket, (stream) => {
        const { localAddress = '', localPort = 0 } = stream;
        egress.accept(stream, { address: localAddress, port: localPort });
      }),
    );
  }

  async function change(ports: readonly number[]): Promise<void> {
    const added = ports.filter((port) => !servers.has(port));
    const opened = added.length === 0 ? undefined : await openInside(inside, added.map(everywhere), false);
    for (const port of added) serve(port, opened?.get(everywhere(port)));
    for (const [port, server] of servers) {
      if (!closed && (ports.includes(port) || fixed.includes(port))) continue;
      servers.delete(port);
      server.close();
    }
  }

  const fixed = [53, ...proxyPorts];
  const ports = egress.bind(change).filter((port) => !fixed.includes(port));
  const resolver: SocketName = 'udp,*,53';
  const names = [...[53, ...ports].map(everywhere), ...proxyPorts.map(ofLoopback), resolver];
  const opened = await openInside(inside, names, true);
  for (const port of [53, ...ports]) serve(port, opened.get(everywhere(port)));
  for (const port of proxyPorts) serve(port, opened.get(ofLoopback(port)));
  const stub = serveUdp(opened.get(resolver) as CellSocket, (message, reply) => {
    egress.query(message).then(
      (answer) => answer !== undefined && !closed && reply(answer),
      () => {},
    );
  });
  return () => {
    if (closed) return;
    closed = true;
    egress.close();
    for (const server of servers.values()) server.close();
    stub.close();
  };
}

function everywhere(port: number): SocketName {
  return `tcp,*,${port}`;
}

function ofLoopback(port: number): SocketName {
  return `tcp,127.0.0.1,${port}`;
}
