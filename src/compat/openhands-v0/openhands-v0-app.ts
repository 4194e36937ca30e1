/** The HTTP application of an OpenHands V0 server, without a port. */
import type { FastifyInstance } from 'fastify';
import { createAccess } from '../../base/http/access.js';
import { createHttpApp, type Mount, mount, protect } from '../../base/http/http-app.js';
import type { Exposure } from '../../base/http/http-options.js';
import type { Executor } from '../../protocol/index.js';
import type { ActionServerOptions } from './action-server.js';
import { HttpError, sendFailure } from './http-error.js';
import { openHandsRoutes } from './openhands-routes.js';

/** With a token, every request but `/alive` and `/server_info` must carry it as `X-Session-API-Key`. */
export interface OpenHandsOptions
  extends ActionServerOptions,
    Pick<Exposure, 'token' | 'hosts' | 'origins'> {}

/** Register it as a scope in the application of a server. */
export function openHandsV0(executor: Executor, options: OpenHandsOptions): Mount['routes'] {
  const access = createAccess({ token: options.token, tokenHeaders: ['x-session-api-key'] });
  return (scope, { isMain }) => {
    protect(scope, ({ headers }) => access.checkToken(headers));
    scope.setErrorHandler((error, _request, reply) => sendFailure(reply, error));
    if (isMain || scope.prefix !== '')
      scope.setNotFoundHandler((_request, reply) => sendFailure(reply, new HttpError(404, 'Not Found')));
    // An upload is read piece by piece, by its route.
    scope.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null, undefined));
    openHandsRoutes(scope, executor, options);
  };
}

/** `also`: what else the application answers. */
export function createOpenHandsApp(
  executor: Executor,
  options: OpenHandsOptions,
  also: readonly Mount[] = [],
): FastifyInstance {
  const app = createHttpApp({ access: createAccess(options), sendFailure });
  mount(app, [{ prefix: '', routes: openHandsV0(executor, options) }, ...also]);
  return app;
}
