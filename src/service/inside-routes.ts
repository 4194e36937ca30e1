/** The native API of an executor, below each cell. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { nativeRoutes } from '../cell/server/executor-app.js';
import type { ServerContext } from '../cell/server/server-context.js';
import { instanceHeader } from '../protocol/wire.js';
import { type Askers, cellFor, whenOver } from './service-access.js';
import type { ServiceParts } from './service-app.js';

export function insideRoutes(scope: FastifyInstance, { cells, log }: ServiceParts, askers: Askers): void {
  const contexts = new WeakMap<FastifyRequest, ServerContext>();
  scope.addHook('onRequest', async (request, reply) => {
    if (request.is404) return;
    const asked = (needed: 'reader' | 'user') =>
      cellFor(cells, askers(request), (request.params as { cell: string }).cell, needed);
    const { tenant, id, state } = asked(neededInside(request));
    // Waking a cell is a change.
    if (state === 'paused') asked('user');
    // Figures, asked for again and again, must not keep a cell from becoming idle.
    const looks = request.routeOptions.url?.endsWith('/:cell/v1/stats') ?? false;
    const { context, done } = await (looks ? cells.look(tenant, id) : cells.use(tenant, id));
    whenOver(request, reply, done);
    contexts.set(request, context);
    void reply.header(instanceHeader, context.info.instance);
  });
  nativeRoutes(scope, (request) => contexts.get(request) as ServerContext, log);
}

/** A reader may look: use actions that start nothing and change nothing. */
function neededInside(request: FastifyRequest): 'reader' | 'user' {
  const { method, routeOptions, ws } = request;
  const looks = ['/v1/files', '/v1/events', '/v1/info', '/v1/stats', '/openapi.json', '/docs', '/alive'];
  const route = routeOptions.url ?? '';
  const isLook = looks.some((path) => route.endsWith(`/:cell${path}`));
  return isLook && (method === 'GET' || method === 'HEAD') && (!ws || route.endsWith('/v1/events'))
    ? 'reader'
    : 'user';
}
