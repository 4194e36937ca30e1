/** The HTTP application of an OpenHands V0 server, without a port. */
import type { FastifyInstance } from 'fastify';
import { createAccess } from '../../base/http/access.js';
import { createHttpApp, type Mount, mount, protect } from '../../base/http/http-app.js';
import type { Exposure } from '../../base/http/http-options.js';
import type { Executor } from '../../protocol/index.js';
import { type Catalogue, type Say, speaker } from '../messages.js';
import type { ActionServerOptions } from './action-server.js';
import { HttpError, sendFailure } from './http-error.js';
import { defaultMessages } from './openhands-messages.js';
import { openHandsRoutes } from './openhands-routes.js';
import { words } from './openhands-words.js';

/** With a token, every request but `/alive` and `/server_info` must carry it as `X-Session-API-Key`. */
export interface OpenHandsOptions extends ActionServerOptions, Pick<Exposure, 'token' | 'hosts' | 'origins'> {
  /** What the server says, by key. Default: its own words. */
  readonly messages?: Catalogue | undefined;
}

/** Register it as a scope in the application of a server. */
export function openHandsV0(executor: Executor, options: OpenHandsOptions): Mount['routes'] {
  const access = createAccess({ token: options.token, tokenHeaders: ['x-session-api-key'] });
  const say = sayOf(options);
  return (scope, { isMain }) => {
    protect(scope, ({ headers }) => access.checkToken(headers));
    scope.setErrorHandler((error, _request, reply) => sendFailure(reply, error, say));
    if (isMain || scope.prefix !== '')
      scope.setNotFoundHandler((_request, reply) =>
        sendFailure(reply, new HttpError(404, words('http.not_found')), say),
      );
    // The route reads an upload piece by piece.
    scope.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null, undefined));
    openHandsRoutes(scope, executor, { ...options, say });
  };
}

/** `also`: what else the application answers. */
export function createOpenHandsApp(
  executor: Executor,
  options: OpenHandsOptions,
  also: readonly Mount[] = [],
): FastifyInstance {
  const app = createHttpApp({
    access: createAccess(options),
    sendFailure: (reply, error) => sendFailure(reply, error, sayOf(options)),
  });
  mount(app, [{ prefix: '', routes: openHandsV0(executor, options) }, ...also]);
  return app;
}

function sayOf({ messages = defaultMessages }: OpenHandsOptions): Say {
  return speaker(messages);
}
