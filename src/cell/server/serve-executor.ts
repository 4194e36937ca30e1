/** Makes an executor reachable over HTTP and WebSocket. */
import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { createAccess } from '../../base/http/access.js';
import type { Mount } from '../../base/http/http-app.js';
import { checkExposure, listen, withBoundHost } from '../../base/http/listen.js';
import { packageVersion } from '../../base/package-version.js';
import { type Executor, protocolVersion } from '../../protocol/index.js';
import { Calls } from './calls.js';
import { Clients } from './clients.js';
import { EventLog } from './event-log.js';
import { createApp, nativeMount } from './executor-app.js';
import { defaultLimits, type ListenAddress, type ServeOptions } from './executor-server-options.js';
import { createReadinessProbe } from './readiness.js';
import type { ServerContext } from './server-context.js';

export interface ExecutorServer {
  /** Where it listens, with the real port, also when you asked for 0. */
  readonly address: ListenAddress;
  readonly app: FastifyInstance;
  /** Stops the server. `end` ends all commands first; `detach` leaves them running. Succeeds when called twice. */
  close(commands?: 'end' | 'detach'): Promise<void>;
}

/**
 * Serves an executor. Given a function that makes executors, it calls it when the server listens, and again when a
 * client has closed the previous one. Given a single executor, the cell then stays closed.
 */
export async function serveExecutor(
  executor: Executor | (() => Executor),
  options: ServeOptions,
): Promise<ExecutorServer> {
  checkExposure(options, [{}, ...(options.also ?? [])]);
  const { context, begin } = createContext(executor, options);
  const app = await createApp(context, createAccess(withBoundHost(options)), options);
  const listener = await listen(app, options.listen, context.limits);
  context.counters.connections = () => listener.connections;
  begin();
  let closing: Promise<void> | undefined;
  return {
    address: listener.address,
    app,
    close(commands = 'end') {
      closing ??= (async () => {
        if (commands === 'end') {
          await context.executor().close();
          await context.calls.settled();
        }
        context.events.close();
        await listener.close();
        context.calls.close();
      })();
      return closing;
    },
  };
}

/** The same routes on the address of another server, below a prefix. They end with it and do not end the executor. */
export function mountExecutor(
  prefix: string,
  executor: Executor,
  options: Pick<ServeOptions, 'token' | 'id' | 'workspace' | 'isolation' | 'log'>,
): Mount {
  const { context: own } = createContext(executor, options);
  const context: ServerContext = {
    ...own,
    async closeExecutor(client) {
      if (client !== undefined) await own.clients.end(client);
    },
  };
  const native = nativeMount(prefix, context, createAccess({ token: options.token }));
  return {
    ...native,
    routes(scope, place) {
      native.routes(scope, place);
      scope.addHook('preClose', async () => {
        context.events.close();
        context.calls.close();
      });
    },
  };
}

/** What the native routes need for one of many cells that a service serves. `close` forgets its calls and events. */
export function cellContext(
  executor: Executor,
  options: Pick<ServeOptions, 'id' | 'workspace' | 'isolation' | 'limits' | 'log'>,
): { context: ServerContext; close(): void } {
  const { context } = createContext(executor, options);
  return {
    context,
    close() {
      context.events.close();
      context.calls.close();
    },
  };
}

function createContext(
  source: Executor | (() => Executor),
  options: Omit<ServeOptions, 'listen'>,
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
      // From here on requests get a fresh one, so that none of them comes between the two.
      if (typeof source === 'function') current = undefined;
      await closed.close();
    },
    readiness: createReadinessProbe(executor),
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
      connections: () => 0,
      terminals: 0,
      actions: new Map(),
    },
    log,
  };
  return { context, begin: () => void executor() };
}
