/** Makes an executor reachable over HTTP and WebSocket. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { lstatSync, unlinkSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type Executor, protocolVersion, WorkcellError } from '../../protocol/index.js';
import { createAccess, isLoopback } from './access.js';
import { createApp } from './app.js';
import { Calls } from './calls.js';
import { Clients } from './clients.js';
import type { ServerContext } from './context.js';
import { EventLog } from './event-log.js';
import { defaultLimits, type ListenAddress, type ServeOptions } from './options.js';
import { packageVersion } from './routes/status.js';
import { watchStalls } from './stalls.js';

/** How long answers may take to reach their clients when the server ends. */
const farewellMs = 1000;

export interface ExecutorServer {
  /** Where it listens; the port is the real one when 0 was asked for. */
  readonly address: ListenAddress;
  readonly app: FastifyInstance;
  /** Stops the server. `end` ends all commands first; `detach` leaves them to themselves. Succeeds when called twice. */
  close(commands?: 'end' | 'detach'): Promise<void>;
}

/**
 * Serves an executor. A function that makes executors is first called when the server listens, and again when a client
 * has closed the one before; with a single executor the cell then stays closed.
 */
export async function serveExecutor(
  executor: Executor | (() => Executor),
  options: ServeOptions,
): Promise<ExecutorServer> {
  checkExposure(options);
  const { context, begin } = createContext(executor, options);
  const app = await createApp(context, createAccess(withBoundHost(options)), options.extend);
  const sockets = new Set<Socket>();
  app.server.maxConnections = context.limits.connections;
  app.server.on('connection', (socket) => {
    sockets.add(socket);
    context.counters.connections = sockets.size;
    socket.once('close', () => {
      sockets.delete(socket);
      context.counters.connections = sockets.size;
    });
  });
  const stopWatching = watchStalls(sockets, context.limits.stallMs);
  const address = await listen(app, options.listen);
  begin();
  let closing: Promise<void> | undefined;
  return {
    address,
    app,
    close(commands = 'end') {
      closing ??= (async () => {
        if (commands === 'end') {
          await context.executor().close();
          await context.calls.settled();
        }
        context.events.close();
        stopWatching();
        await stopListening(app, sockets);
        await app.close();
        context.calls.close();
      })();
      return closing;
    },
  };
}

function createContext(
  source: Executor | (() => Executor),
  options: ServeOptions,
): { context: ServerContext; begin(): void } {
  const limits = { ...defaultLimits, ...options.limits };
  const log = options.log ?? (() => {});
  const id = options.id ?? randomBytes(8).toString('hex');
  let current: Executor | undefined;
  const executor = () => {
    current ??= typeof source === 'function' ? source() : source;
    return current;
  };
  const clients = new Clients(executor);
  const context: ServerContext = {
    executor,
    async closeExecutor() {
      const closed = executor();
      clients.clear();
      // From here on requests meet a fresh one, so that none of them gets between the two.
      if (typeof source === 'function') current = undefined;
      await closed.close();
    },
    info: {
      protocolVersion,
      version: packageVersion(),
      id,
      instance: randomBytes(12).toString('hex'),
      workspace: options.workspace,
      isolation: options.isolation,
    },
    limits,
    calls: new Calls(limits, log),
    clients,
    events: new EventLog(id),
    counters: {
      startedAt: performance.now(),
      requests: 0,
      failures: 0,
      connections: 0,
      terminals: 0,
      actions: new Map(),
    },
    log,
  };
  return { context, begin: () => void executor() };
}

/** An address that others can reach needs a token and the word of whoever starts the server. */
function checkExposure({ listen: address, token, allowRemote }: ServeOptions): void {
  if ('path' in address) return;
  if (token === undefined) {
    throw new WorkcellError(
      'invalid-config',
      `Listening on ${address.host}:${address.port} needs a token, because every user of this machine can connect. Give one (--token-file <file>), or listen on a Unix socket (--listen unix:<path>).`,
    );
  }
  if (token.length < 16) {
    throw new WorkcellError('invalid-config', 'The token is shorter than 16 characters; use a longer one.');
  }
  if (isLoopback(address.host) || allowRemote) return;
  throw new WorkcellError(
    'invalid-config',
    `${address.host} is not a loopback address, so others could reach this server. Allow that (--allow-remote), or listen on 127.0.0.1.`,
    { details: { host: address.host } },
  );
}

function withBoundHost(options: ServeOptions): ServeOptions {
  if ('path' in options.listen) return options;
  return { ...options, hosts: [...(options.hosts ?? []), options.listen.host] };
}

async function listen(app: FastifyInstance, address: ListenAddress): Promise<ListenAddress> {
  try {
    if ('path' in address) {
      await removeDeadSocket(address.path);
      await app.ready();
      // A socket is made within this call; the mask keeps others out from its first moment on.
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
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WorkcellError('backend-unavailable', `The server cannot listen on ${place}: ${reason}.`, {
      cause,
    });
  }
}

/** Takes no more connections, lets answers that are under way arrive, and cuts off what is left after a moment. */
async function stopListening(
  { server, websocketServer }: FastifyInstance,
  sockets: ReadonlySet<Socket>,
): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  for (const client of websocketServer.clients) client.close(1001);
  const timer = setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, farewellMs);
  await closed;
  clearTimeout(timer);
}

/** A socket that a killed server left behind is in the way; one that answers is not ours to take. */
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
