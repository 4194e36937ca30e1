/** The HTTP application that every server begins with: limits, whom it answers, bodies, failures. It has no route. */
import websocket from '@fastify/websocket';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { WorkcellError } from '../../protocol/index.js';
import { type Access, checkOneHost } from './access.js';
import { errorBody, refuse, sendError } from './http-errors.js';
import { defaultHttpLimits, type HttpLimits, type Log, type TokenDemand } from './http-options.js';
import { acceptJson } from './json-body.js';
import { Rate } from './rate.js';
import { requestIdHeader, requestIdOf } from './request-id.js';
import { traceRequests } from './trace-requests.js';
import { checkUpgrades } from './upgrades.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers without a token. */
    open?: boolean;
    /** Takes its body as a stream, of any length and for any time, and watches it itself. */
    streams?: boolean;
  }
}

export interface HttpAppOptions {
  readonly access: Access;
  readonly limits?: HttpLimits | undefined;
  readonly log?: Log | undefined;
  /** The form of failures for routes without their own. */
  readonly sendFailure?: ((reply: FastifyReply, error: unknown) => void) | undefined;
  /** Added to every answer. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Routes of one protocol, which handle their token, failures and unknown paths themselves. */
export interface Mount {
  /** Before all paths; only one mount of an application may have none and answer for unknown paths. */
  readonly prefix: string;
  /** What it demands of the token. Default: `strictToken`. */
  readonly token?: TokenDemand | undefined;
  /** Some of its routes are WebSockets. */
  readonly sockets?: boolean | undefined;
  readonly routes: (scope: FastifyInstance, place: { readonly isMain: boolean }) => void;
}

const longestFrame = 1024 * 1024;

/** The first mount answers for unknown paths. */
export function mount(app: FastifyInstance, mounts: readonly Mount[]): void {
  const [main, ...others] = mounts;
  if (mounts.some(({ sockets }) => sockets)) {
    app.register(websocket, { options: { maxPayload: longestFrame, autoPong: false } });
    app.after(() => checkUpgrades(app));
  }
  const add = ({ prefix, routes }: Mount, isMain: boolean) =>
    void app.register(async (scope) => routes(scope, { isMain }), { prefix });
  if (main !== undefined) add(main, true);
  for (const other of others) add(other, false);
}

/** Routes check their token themselves: see `protect`. */
export function createHttpApp(options: HttpAppOptions): FastifyInstance {
  const { access, limits = defaultHttpLimits, log = () => {}, headers = {} } = options;
  const sendFailure = options.sendFailure ?? ((reply, error) => sendError(reply, error, log));
  const app = fastify({
    bodyLimit: limits.bodyBytes,
    genReqId: requestIdOf,
    forceCloseConnections: true,
    http: {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.requestMs,
      // An upload may take long as a whole, so `limitBodies` and `incomingBytes` watch what comes in instead.
      requestTimeout: 0,
      connectionsCheckingInterval: Math.min(5000, limits.requestMs),
      // `checkSource` refuses a request without a Host header, in the same form as every other failure.
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
    frameworkErrors: (error, _request, reply) => sendFailure(reply, error),
  });
  app.server.on('checkExpectation', (request, response) => {
    const message = `This server cannot do what the header "Expect: ${request.headers.expect}" asks.`;
    const error = new WorkcellError('invalid-action', message);
    response
      .writeHead(417, { 'content-type': 'application/json', connection: 'close' })
      .end(errorBody(error));
  });
  traceRequests(app);
  const rate = new Rate(limits.requestsPerSecond, limits.burst);
  app.addHook('onRequest', (request, reply, done) => {
    void reply.headers(headers);
    // Also on answers that a route writes by itself.
    reply.raw.setHeader(requestIdHeader, request.id);
    checkOneHost(request.raw.rawHeaders);
    access.checkSource(request.headers);
    if (!rate.take())
      throw new WorkcellError('rate-limited', 'Too many requests at once; wait a moment.', {
        details: { retryAfterMs: 1000 },
      });
    done();
  });
  limitBodies(app, limits.requestMs);
  app.setErrorHandler((error, _request, reply) => sendFailure(reply, error));
  acceptJson(app, limits);
  return app;
}

/** Refuses requests for the routes of this scope that lack the token, unless a route is `open`. */
export function protect(scope: FastifyInstance, check: (request: FastifyRequest) => void): void {
  scope.addHook('onRequest', (request, _reply, done) => {
    if (request.routeOptions.config.open !== true) check(request);
    done();
  });
}

/** Does not wait for a body that trickles in. The answer may take as long as it likes. */
function limitBodies(app: FastifyInstance, limitMs: number): void {
  const incoming = new WeakMap<FastifyRequest, NodeJS.Timeout>();
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    if (request.routeOptions.config.streams !== true) {
      const timer = setTimeout(() => request.raw.destroy(), limitMs);
      request.raw.once('close', () => clearTimeout(timer));
      incoming.set(request, timer);
    }
    done();
  });
  app.addHook('preValidation', (request, _reply, done) => {
    clearTimeout(incoming.get(request));
    done();
  });
}

function unused(): never {
  throw new Error('Requests are checked by their handlers.');
}
