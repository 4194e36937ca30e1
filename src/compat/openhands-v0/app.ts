/** The HTTP application of an OpenHands V0 server, without a port. */
import { type FastifyInstance, fastify } from 'fastify';
import { createAccess } from '../../cell/server/access.js';
import { acceptJson } from '../../cell/server/json-body.js';
import { defaultLimits } from '../../cell/server/options.js';
import type { Executor } from '../../protocol/index.js';
import type { ActionServerOptions } from './action-server.js';
import { HttpError, sendFailure } from './http-error.js';
import { openHandsRoutes } from './routes.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers without a key. */
    open?: boolean;
  }
}

export interface OpenHandsOptions extends ActionServerOptions {
  /** Every request but `/alive` and `/server_info` must carry it as `X-Session-API-Key`. Without it none needs to. */
  readonly sessionApiKey?: string | undefined;
  /** Host names, besides loopback ones, that requests may be addressed to. */
  readonly hosts?: readonly string[] | undefined;
}

export function createOpenHandsApp(executor: Executor, options: OpenHandsOptions): FastifyInstance {
  const access = createAccess({
    token: options.sessionApiKey,
    tokenHeaders: ['x-session-api-key'],
    hosts: options.hosts,
  });
  const app = fastify({
    bodyLimit: defaultLimits.bodyBytes,
    forceCloseConnections: true,
    http: {
      maxHeaderSize: defaultLimits.headerBytes,
      headersTimeout: defaultLimits.requestMs,
      requestTimeout: 0,
    },
    frameworkErrors: (error, _request, reply) => sendFailure(reply, error),
  });
  app.addHook('onRequest', (request, _reply, done) => {
    access.checkSource(request.headers);
    if (request.routeOptions.config.open !== true) access.checkToken(request.headers);
    done();
  });
  app.setErrorHandler((error, _request, reply) => sendFailure(reply, error));
  app.setNotFoundHandler((_request, reply) => sendFailure(reply, new HttpError(404, 'Not Found')));
  acceptJson(app, defaultLimits);
  // An upload is read piece by piece, by its route.
  app.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null, undefined));
  openHandsRoutes(app, executor, options);
  return app;
}
