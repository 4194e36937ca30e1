/** Makes an application listen, on an allowed address, and ends it in order. */
import { once } from 'node:events';
import { lstatSync, unlinkSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { WorkcellError } from '../../protocol/index.js';
import { isLoopback } from './access.js';
import {
  defaultHttpLimits,
  type Exposure,
  type HttpLimits,
  type ListenAddress,
  strictToken,
  type TokenDemand,
} from './http-options.js';
import { watchStalls } from './stalls.js';

/** How long answers may take to reach their clients when the server ends. */
const drainMs = 1000;

export interface HttpListener {
  /** The real port, also when you asked for 0. */
  readonly address: ListenAddress;
  /** Connections that are open now. */
  readonly connections: number;
  /** Accepts no more requests, and lets answers in progress arrive for a moment. Succeeds when called twice. */
  close(): Promise<void>;
}

export async function listen(
  app: FastifyInstance,
  address: ListenAddress,
  limits: HttpLimits = defaultHttpLimits,
): Promise<HttpListener> {
  const sockets = new Set<Socket>();
  app.server.maxConnections = limits.connections;
  app.server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const stopWatching = watchStalls(sockets, limits.stallMs);
  const bound = await bind(app, address);
  let closing: Promise<void> | undefined;
  return {
    address: bound,
    get connections() {
      return sockets.size;
    },
    close() {
      closing ??= (async () => {
        stopWatching();
        await stopListening(app, sockets);
        await app.close();
      })();
      return closing;
    },
  };
}

/** As clients write it. */
export function showAddress(address: ListenAddress): string {
  if ('path' in address) return `unix:${address.path}`;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return `http://${host}:${address.port}`;
}

/**
 * An address that others can reach needs a token and `--allow-remote`. When several protocols share one address, the
 * strictest decides what the token must be.
 */
export function checkExposure(
  { listen: address, token, allowRemote, allowAnonymous }: Exposure,
  protocols: readonly { readonly token?: TokenDemand | undefined }[] = [{}],
): void {
  if ('path' in address) return;
  const demands = protocols.map(({ token: demand = strictToken }) => demand);
  const shortest = Math.max(...demands.map((demand) => demand.shortest));
  const mayBeAnonymous = allowAnonymous === true && demands.every(({ optional }) => optional);
  const tokens = token === undefined ? [] : [token].flat();
  if (tokens.length === 0 && !mayBeAnonymous) {
    throw new WorkcellError(
      'invalid-config',
      `Listening on ${address.host}:${address.port} needs a token, because every user of this machine can connect. Give one (--token-file <file>), or listen on a Unix socket (--listen unix:<path>).`,
    );
  }
  if (tokens.some((one) => one.length < shortest)) {
    throw new WorkcellError(
      'invalid-config',
      `The token is shorter than ${shortest} characters; use a longer one.`,
    );
  }
  if (isLoopback(address.host) || allowRemote) return;
  throw new WorkcellError(
    'invalid-config',
    `${address.host} is not a loopback address, so others could reach this server. Allow that (--allow-remote), or listen on 127.0.0.1.`,
    { details: { host: address.host } },
  );
}

/** Requests may always name the address that the server listens on. */
export function withBoundHost<Options extends Pick<Exposure, 'listen' | 'hosts'>>(options: Options): Options {
  if ('path' in options.listen) return options;
  return { ...options, hosts: [...(options.hosts ?? []), options.listen.host] };
}

async function bind(app: FastifyInstance, address: ListenAddress): Promise<ListenAddress> {
  try {
    if ('path' in address) {
      await removeDeadSocket(address.path);
      await app.ready();
      // This call creates the socket; the mask keeps other users out from its first moment.
      const umask = process.umask(0o177);
      try {
        app.server.listen(address.path);
      } finally {
        process.umask(umask);
      }
      await once(app.server, 'listening');
      return address;
    }
    await app.listen({ host: address.host, port: address.port });
    return { host: address.host, port: (app.server.address() as AddressInfo).port };
  } catch (cause) {
    if (WorkcellError.isInstance(cause)) throw cause;
    const place = 'path' in address ? address.path : `${address.host}:${address.port}`;
    throw new WorkcellError(
      'backend-unavailable',
      `The server cannot listen on ${place}: ${reasonOf(cause)}.`,
      {
        details: { address: place },
        cause,
      },
    );
  }
}

const reasons: Partial<Record<string, string>> = {
  EADDRINUSE: 'another program listens there; choose another port, or end that program',
  EADDRNOTAVAIL: 'this machine has no such address; use 127.0.0.1, or one that it has',
  EACCES: 'you may not; choose a port above 1023, or a directory that you can write',
};

function reasonOf(cause: unknown): string {
  const { code = '', message = String(cause) } = cause as NodeJS.ErrnoException;
  return reasons[code] ?? message;
}

/** Takes no more connections, lets answers in progress arrive, and cuts off the rest after a moment. */
async function stopListening(app: FastifyInstance, sockets: ReadonlySet<Socket>): Promise<void> {
  const closed = new Promise((resolve) => app.server.close(resolve));
  if (app.hasDecorator('websocketServer'))
    for (const client of app.websocketServer.clients) client.close(1001);
  const timer = setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, drainMs);
  await closed;
  clearTimeout(timer);
}

/** A socket that a killed server left behind is in the way, so remove it; leave one that answers. */
async function removeDeadSocket(path: string): Promise<void> {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSocket()) return;
  const alive = await new Promise<boolean>((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
  if (alive) throw new WorkcellError('already-exists', `Another server listens on ${path} already.`);
  unlinkSync(path);
}
