/** A gateway with streams into it as a cell's would be, and servers of this machine's loopback behind its names. */
import { createServer as createHttp, type RequestListener } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import {
  type FullNetworkRules,
  type NetworkEvent,
  type NetworkRules,
  type NetworkSecret,
  networkRulesSchema,
} from '../../../src/protocol/index.js';
import { EgressGateway } from '../../../src/runtime/network/gateway.js';

export interface OpenGateway {
  readonly gateway: EgressGateway;
  readonly events: NetworkEvent[];
  /** The address that stands for a name, as the stub of the cell tells. */
  addressOf(name: string): Promise<string>;
  /** Connects as a program in the cell would, by name or by address. */
  dial(host: string, port: number): Promise<Socket>;
  /** What comes back for these bytes, until the end. */
  say(host: string, port: number, bytes: string | Buffer): Promise<string>;
  /** The next event that is like this. */
  event(outcome: NetworkEvent['outcome']): Promise<NetworkEvent>;
}

export async function openGateway(
  rules: NetworkRules,
  secrets: readonly NetworkSecret[] = [],
): Promise<OpenGateway> {
  const full: FullNetworkRules = networkRulesSchema.parse(rules);
  const gateway = new EgressGateway(full, secrets);
  const events: NetworkEvent[] = [];
  const waiting = new Set<() => void>();
  gateway.listen((event) => {
    if (event.outcome === 'changed') return;
    events.push(event);
    for (const wake of waiting) wake();
  });
  // Each connection says first where its program wanted to go.
  const destinations = new Map<number, { address: string; port: number }>();
  const accepted = new Map<number, () => void>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const port = socket.remotePort ?? 0;
    const take = () => gateway.accept(socket, destinations.get(port) ?? { address: '', port: 0 });
    if (destinations.has(port)) take();
    else accepted.set(port, take);
  });
  const port = await listening(server);
  onTestFinished(() => {
    gateway.close();
    server.close();
  });
  const addressOf = async (name: string) => {
    const reply = await gateway.query(question(name));
    return [...(reply?.subarray(-4) ?? [])].join('.');
  };
  const dial = async (host: string, wanted: number): Promise<Socket> => {
    const address = /^[\d.]+$|:/.test(host) ? host : await addressOf(host);
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => {});
    await new Promise((resolve) => socket.once('connect', resolve));
    const own = socket.localPort ?? 0;
    destinations.set(own, { address, port: wanted });
    accepted.get(own)?.();
    onTestFinished(() => void socket.destroy());
    return socket;
  };
  return {
    gateway,
    events,
    addressOf,
    dial,
    async say(host, wanted, bytes) {
      const socket = await dial(host, wanted);
      socket.write(bytes);
      return readAll(socket);
    },
    async event(outcome) {
      for (;;) {
        const found = events.findIndex((event) => event.outcome === outcome);
        if (found !== -1) return events.splice(found, 1)[0] as NetworkEvent;
        await new Promise<void>((resolve) => {
          const wake = () => {
            waiting.delete(wake);
            resolve();
          };
          waiting.add(wake);
        });
      }
    },
  };
}

/** `reset` when the other side cut the connection. */
export function readAll(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.once('error', () => resolve(`${text}reset`));
    socket.once('end', () => resolve(text));
    socket.once('close', () => resolve(text));
  });
}

/** An HTTP server on the loopback; gives where it is. */
export async function openWeb(listener: RequestListener): Promise<string> {
  const server = createHttp(listener);
  const port = await listening(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${port}`;
}

export async function openTcp(onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onConnection(socket);
  });
  const port = await listening(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `127.0.0.1:${port}`;
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** A DNS question for an IPv4 address, or another type. */
export function question(name: string, type = 1): Buffer {
  const labels = name
    .split('.')
    .flatMap((label) => [Buffer.from([label.length]), Buffer.from(label, 'latin1')]);
  const header = Buffer.from([0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  return Buffer.concat([header, ...labels, Buffer.from([0, 0, type, 0, 1])]);
}

/** The first message of a TLS client, as a real one would send it. `names`: in the server name extension. */
export function clientHello(...names: string[]): Buffer {
  return helloWith(names);
}

/** One whose real name is encrypted (ECH): the names are those that anybody may read. */
export function encryptedHello(...names: string[]): Buffer {
  // Of the outer kind, with a key that nobody has.
  const content = Buffer.concat([
    Buffer.from([0, 0, 1, 0, 1, 9]),
    vector(2, Buffer.alloc(32, 5)),
    vector(2, Buffer.alloc(128, 6)),
  ]);
  return helloWith(names, Buffer.from([0xfe, 0x0d]), vector(2, content));
}

function helloWith(names: string[], ...others: Buffer[]): Buffer {
  const list = names.map((name) => Buffer.concat([Buffer.from([0]), vector(2, Buffer.from(name, 'latin1'))]));
  const named = names.length === 0 ? [] : [Buffer.from([0, 0]), vector(2, vector(2, Buffer.concat(list)))];
  const extensions = [...others, ...named];
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 7),
    vector(1, Buffer.alloc(0)),
    vector(2, Buffer.from([0x13, 1])),
    vector(1, Buffer.from([0])),
    vector(2, Buffer.concat(extensions)),
  ]);
  return Buffer.concat([
    Buffer.from([22, 3, 1]),
    vector(2, Buffer.concat([Buffer.from([1]), vector(3, body)])),
  ]);
}

function vector(lengthBytes: number, content: Buffer): Buffer {
  const length = Buffer.alloc(lengthBytes);
  length.writeUIntBE(content.length, 0, lengthBytes);
  return Buffer.concat([length, content]);
}
