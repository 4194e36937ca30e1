/** The protocol of E2B on a service: its control API, and beside it what each sandbox answers on its ports. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ServiceMount } from '../../service/service-app.js';
import { controlRoutes } from './control/control-routes.js';
import { sendE2bError } from './e2b-errors.js';
import { type OpenSandbox, Sandboxes } from './e2b-sandboxes.js';
import { envdRoutes } from './envd/envd-routes.js';
import { interpreterRoutes } from './interpreter/interpreter-routes.js';
import { portProxy } from './ports/port-proxy.js';
import { checkToken, checkTraffic } from './sandbox-access.js';

const envdPort = 49_983;
const interpreterPort = 49_999;

/** Which part of a sandbox a request is for; routes without one never see a request that names a sandbox. */
type Part = 'envd' | 'interpreter' | 'port';

export const e2bMount: ServiceMount = (parts) => {
  const sandboxes = new Sandboxes(parts);
  return {
    prefix: '',
    sockets: true,
    routes(scope) {
      scope.addConstraintStrategy(sandboxConstraint);
      // Clients name a type also when they send nothing, and nothing is not JSON.
      scope.addHook('onRequest', async ({ headers }) => {
        const isEmpty =
          headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0';
        if (isEmpty) delete headers['content-type'];
      });
      scope.register(async (inner) => controlRoutes(inner, parts, sandboxes));
      scope.register(async (inner) => {
        inner.setErrorHandler((error, _request, reply) => sendE2bError(reply, error, parts.log));
        envdRoutes(inner, sandboxes, at('envd'), idOf);
        inner.register(async (code) => interpreterScope(code, sandboxes));
        inner.register(async (ports) =>
          portProxy(ports, sandboxes, at('port'), (request) => ({
            id: idOf(request),
            port: portOf(request.headers),
          })),
        );
      });
    },
  };
};

type Strategy = Parameters<FastifyInstance['addConstraintStrategy']>[0];
type Handler = Parameters<ReturnType<Strategy['storage']>['set']>[1];

/** Sends a request that names a sandbox to the routes of the part it asks for, and to no other. */
const sandboxConstraint: Strategy = {
  name: 'e2bPart',
  mustMatchWhenDerived: true,
  storage() {
    const handlers = new Map<unknown, Handler>();
    return {
      get: (part) => handlers.get(part) ?? null,
      set: (part, handler) => void handlers.set(part, handler),
    };
  },
  deriveConstraint({ headers }): Part | undefined {
    if (headers['e2b-sandbox-id'] === undefined) return undefined;
    const port = portOf(headers);
    if (port === envdPort) return 'envd';
    return port === interpreterPort ? 'interpreter' : 'port';
  },
};

function at(part: Part): { constraints: { e2bPart: Part } } {
  return { constraints: { e2bPart: part } };
}

function idOf({ headers }: FastifyRequest): string {
  return String(headers['e2b-sandbox-id'] ?? '');
}

function portOf(headers: FastifyRequest['headers']): number {
  const port = Number(headers['e2b-sandbox-port'] ?? envdPort);
  return Number.isSafeInteger(port) && port > 0 && port < 65_536 ? port : 0;
}

function interpreterScope(app: FastifyInstance, sandboxes: Sandboxes): void {
  const opened = new WeakMap<FastifyRequest, OpenSandbox>();
  app.addHook('onRequest', async (request, reply) => {
    const sandbox = sandboxes.running(idOf(request));
    checkTraffic(request, reply, sandboxes, sandbox);
    // Clients send this token with code only; what contexts are needs that of a private sandbox, or this one.
    if (!sandbox.facts.private || request.routeOptions.url === '/execute')
      checkToken(request, reply, sandboxes, sandbox);
    opened.set(request, await sandboxes.open(idOf(request), request, reply));
  });
  interpreterRoutes(app, (request) => opened.get(request) as OpenSandbox, at('interpreter'));
}
