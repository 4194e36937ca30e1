/** The HTTP application of a server: limits, checks and routes, without a port. */
import websocket from '@fastify/websocket';
import { type FastifyInstance, type FastifyRequest, fastify } from 'fastify';
import { WorkcellError } from '../../protocol/index.js';
import { instanceHeader } from '../../protocol/wire.js';
import { type Access, checkOneHost } from './access.js';
import type { ServerContext } from './context.js';
import { errorBody, refuse, sendError } from './errors.js';
import { acceptJson } from './json-body.js';
import type { ServeOptions } from './options.js';
import { Rate } from './rate.js';
import { actionRoutes } from './routes/actions.js';
import { eventRoutes } from './routes/events.js';
import { fileRoutes } from './routes/files.js';
import { portRoutes } from './routes/ports.js';
import { statusRoutes } from './routes/status.js';
import { terminalRoutes } from './routes/terminals.js';
import { checkUpgrades } from './sockets.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers without a token. */
    open?: boolean;
    /** Takes its body as a stream, of any length and for any time, and watches it itself. */
    streams?: boolean;
  }
}

const longestFrame = 1024 * 1024;

export async function createApp(
  context: ServerContext,
  access: Access,
  extend?: ServeOptions['extend'],
): Promise<FastifyInstance> {
  const { limits, log, counters, info } = context;
  const app = fastify({
    bodyLimit: limits.bodyBytes,
    forceCloseConnections: true,
    http: {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.requestMs,
      // A whole request may take long when it is an upload; what comes in is watched piece by piece instead.
      requestTimeout: 0,
      connectionsCheckingInterval: Math.min(5000, limits.requestMs),
      // One without is refused with the others that are not for this server, in the form of all failures.
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength: 256 },
    // No route has a schema of the framework's kind, whose compilers take long to load.
    schemaController: { compilersFactory: { buildValidator: unused, buildSerializer: unused } },
    clientErrorHandler: (error, socket) => {
      if (!socket.writable) return void socket.destroy();
      const overflow = error.code === 'HPE_HEADER_OVERFLOW';
      const status = overflow ? '431 Request Header Fields Too Large' : '400 Bad Request';
      const code = overflow ? 'request-too-large' : 'invalid-action';
      refuse(socket, status, new WorkcellError(code, 'The request is not HTTP that this server can read.'));
    },
    frameworkErrors: (error, _request, reply) => sendError(reply, error, log),
  });
  app.server.on('checkExpectation', (request, response) => {
    const message = `This server cannot do what the header "Expect: ${request.headers.expect}" asks.`;
    const error = new WorkcellError('invalid-action', message);
    response
      .writeHead(417, { 'content-type': 'application/json', connection: 'close' })
      .end(errorBody(error));
  });
  const rate = new Rate(limits.requestsPerSecond, limits.burst);

  app.addHook('onRequest', (request, reply, done) => {
    void reply.header(instanceHeader, info.instance);
    checkOneHost(request.raw.rawHeaders);
    access.checkSource(request.headers);
    if (request.routeOptions.config.open !== true) access.checkToken(request.headers);
    checkInstance(request.headers[instanceHeader], info.instance);
    if (!rate.take()) throw new WorkcellError('rate-limited', 'Too many requests at once; wait a moment.');
    done();
  });
  // A body that trickles in is not waited for; the answer may take as long as it likes.
  const incoming = new WeakMap<FastifyRequest, NodeJS.Timeout>();
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    if (request.routeOptions.config.streams !== true) {
      const timer = setTimeout(() => request.raw.destroy(), limits.requestMs);
      request.raw.once('close', () => clearTimeout(timer));
      incoming.set(request, timer);
    }
    done();
  });
  app.addHook('preValidation', (request, _reply, done) => {
    clearTimeout(incoming.get(request));
    done();
  });
  app.addHook('onResponse', (_request, reply, done) => {
    counters.requests++;
    if (reply.statusCode >= 500) counters.failures++;
    done();
  });
  app.setErrorHandler((error, _request, reply) => sendError(reply, error, log));
  app.setNotFoundHandler((request, reply) => {
    const message = `There is no ${request.method} ${request.url.split('?')[0]} here; /docs lists what there is.`;
    sendError(reply, new WorkcellError('not-found', message), log);
  });
  acceptJson(app, limits);
  await app.register(websocket, { options: { maxPayload: longestFrame } });
  checkUpgrades(app);
  actionRoutes(app, context);
  fileRoutes(app, context);
  terminalRoutes(app, context);
  portRoutes(app, context);
  eventRoutes(app, context);
  statusRoutes(app, context);
  if (extend !== undefined) {
    const { id, workspace } = info;
    await app.register(async (scope) => extend(scope, { executor: () => context.executor(), id, workspace }));
  }
  return app;
}

function checkInstance(expected: string | string[] | undefined, actual: string): void {
  if (expected === undefined || expected === actual) return;
  throw new WorkcellError(
    'runtime-disconnected',
    'The server was started anew since this client connected: shells and processes of before are gone. Connect again.',
  );
}

function unused(): never {
  throw new Error('Requests are checked by their handlers.');
}
