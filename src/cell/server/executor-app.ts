/** The native routes of a server, and additional ones, without a port. */
import type { FastifyInstance } from 'fastify';
import type { Access } from '../../base/http/access.js';
import { createHttpApp, type Mount, mount, protect } from '../../base/http/http-app.js';
import { sendError } from '../../base/http/http-errors.js';
import { WorkcellError } from '../../protocol/index.js';
import { instanceHeader } from '../../protocol/wire.js';
import type { Log, ServeOptions } from './executor-server-options.js';
import { actionRoutes } from './routes/action-routes.js';
import { eventRoutes } from './routes/event-routes.js';
import { fileRoutes } from './routes/file-routes.js';
import { portRoutes } from './routes/port-routes.js';
import { statusRoutes } from './routes/status-routes.js';
import { terminalRoutes } from './routes/terminal-routes.js';
import type { ContextOf, ServerContext } from './server-context.js';

export async function createApp(
  context: ServerContext,
  access: Access,
  { extend, also = [] }: Pick<ServeOptions, 'extend' | 'also'> = {},
): Promise<FastifyInstance> {
  const { limits, log, info } = context;
  const app = createHttpApp({ access, limits, log, headers: { [instanceHeader]: info.instance } });
  countAnswers(app, context);
  mount(app, [{ prefix: '', sockets: true, routes: (scope) => ownRoutes(scope, context, access) }, ...also]);
  if (extend !== undefined) {
    const { id, workspace } = info;
    await app.register(async (scope) => extend(scope, { executor: () => context.executor(), id, workspace }));
  }
  return app;
}

/** The native routes beside those of the protocol that the application serves. */
export function nativeMount(prefix: string, context: ServerContext, access: Access): Mount {
  return {
    prefix,
    sockets: true,
    routes(scope) {
      countAnswers(scope, context);
      scope.addHook('onRequest', (_request, reply, done) => {
        void reply.header(instanceHeader, context.info.instance);
        done();
      });
      ownRoutes(scope, context, access);
    },
  };
}

function countAnswers(scope: FastifyInstance, { counters }: ServerContext): void {
  scope.addHook('onResponse', (_request, reply, done) => {
    counters.requests++;
    if (reply.statusCode >= 500) counters.failures++;
    done();
  });
}

function ownRoutes(scope: FastifyInstance, context: ServerContext, access: Access): void {
  protect(scope, ({ headers }) => access.checkToken(headers));
  nativeRoutes(scope, () => context, context.log);
}

/** The routes of the native API. The caller checks access before. */
export function nativeRoutes(scope: FastifyInstance, contextOf: ContextOf, log: Log): void {
  // The application may belong to another protocol, whose failures have another form.
  scope.setErrorHandler((error, _request, reply) => sendError(reply, error, log));
  scope.addHook('onRequest', (request, _reply, done) => {
    // An unknown path belongs to no cell.
    if (!request.is404) checkInstance(request.headers[instanceHeader], contextOf(request).info.instance);
    done();
  });
  scope.setNotFoundHandler((request, reply) => {
    const message = `There is no ${request.method} ${request.url.split('?')[0]} here; /docs lists what there is.`;
    sendError(reply, new WorkcellError('not-found', message), log);
  });
  actionRoutes(scope, contextOf);
  fileRoutes(scope, contextOf);
  terminalRoutes(scope, contextOf);
  portRoutes(scope, contextOf);
  eventRoutes(scope, contextOf);
  statusRoutes(scope, contextOf);
}

function checkInstance(expected: string | string[] | undefined, actual: string): void {
  if (expected === undefined || expected === actual) return;
  throw new WorkcellError(
    'runtime-disconnected',
    'The server restarted since you connected: its shells and processes are gone. Connect again.',
  );
}
