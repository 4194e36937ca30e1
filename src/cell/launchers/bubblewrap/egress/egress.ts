/**
 * Listens in the network namespace of a cell for every outgoing connection and name query, and passes it to the
 * {@link Egress}.
 */
import type { Server, Socket } from 'node:net';
import { type CellSocket, openInside, type SocketName, serveTcp, serveUdp } from './cell-sockets.js';

/** Those on which connections are taken; on others the cell's own kernel refuses them. */
type Ports = readonly number[] | 'all';

/** Decides what a cell reaches. */
export interface Egress {
  /** Returns the ports to listen on, and calls `onPorts` when they change. */
  bind(onPorts: (ports: Ports) => Promise<void>): Ports;
  /** Takes a connection, with the address that the program connected to. */
  accept(socket: Socket, destination: { readonly address: string; readonly port: number }): void;
  /** The reply to a DNS message. */
  query(message: Buffer): Promise<Buffer | undefined>;
  /** Ends every connection. */
  close(): void;
}

/** The resolver that a cell with an egress sees. Every other resolver that it asks leads here, too. */
export const resolverConfiguration = 'nameserver 127.0.0.1\noptions timeout:10 attempts:2\n';

const everyPort: SocketName = 'all,*,0';
const resolver: SocketName = 'udp,*,53';
/**
 * DNS over TCP, and where programs may look for a proxy. On every address, because rules may allow these ports elsewhere;
 * the port of the resolver leads there whatever the address.
 */
const fixedPorts = [53, 3128, 1080];
const fixed = fixedPorts.map((port): SocketName => `tcp,*,${port}`);

/**
 * `inside`: a process in the namespaces of the cell with power over them, of which the cell itself has none; or the path
 * of its network namespace.
 */
export async function openEgress(inside: number | string, egress: Egress): Promise<() => void> {
  const servers = new Map<SocketName, Server>();
  let closed = false;

  function serve(names: readonly SocketName[], opened: ReadonlyMap<string, CellSocket>): void {
    for (const name of names) {
      const socket = opened.get(name);
      if (socket === undefined) continue;
      const server = serveTcp(socket, (stream) => {
        const { localAddress = '', localPort = 0 } = stream;
        egress.accept(stream, { address: localAddress, port: localPort });
      });
      servers.set(name, server);
    }
  }

  async function change(ports: Ports): Promise<void> {
    const names = listenersFor(ports);
    const added = names.filter((name) => !servers.has(name));
    if (added.length > 0) serve(added, await openInside(inside, added, false));
    for (const [name, server] of servers) {
      if (!closed && (names.includes(name) || fixed.includes(name))) continue;
      servers.delete(name);
      server.close();
    }
  }

  const names = [...fixed, ...listenersFor(egress.bind(change))];
  const opened = await openInside(inside, [...names, resolver], true);
  serve(names, opened);
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

function listenersFor(ports: Ports): SocketName[] {
  if (ports === 'all') return [everyPort];
  return ports.filter((port) => !fixedPorts.includes(port)).map((port) => `tcp,*,${port}` as const);
}
