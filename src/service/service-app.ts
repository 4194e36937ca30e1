/** The routes of the service: cells, keys, templates, and below each cell the native API of an executor. */
import type { FastifyInstance } from 'fastify';
import { createAccess } from '../base/http/access.js';
import { createHttpApp, type Mount, mount } from '../base/http/http-app.js';
import { failureOf, sendError } from '../base/http/http-errors.js';
import type { Exposure, Log } from '../base/http/http-options.js';
import { parse } from '../base/http/parse-request.js';
import { WorkcellError } from '../protocol/index.js';
import { createKeySchema, listKeysQuery } from '../protocol/service-wire.js';
import type { CellHistory } from './cell-history.js';
import { cellRoutes } from './cell-routes.js';
import { checkpointRoutes } from './checkpoint-routes.js';
import { consoleRoutes } from './console-files.js';
import { insideRoutes } from './inside-routes.js';
import { operatorRoutes } from './operator-routes.js';
import type { PreviewLinks } from './previews/preview-links.js';
import { recordRoutes } from './record-routes.js';
import type { Records } from './records.js';
import type { RequestShares } from './request-shares.js';
import { type Askers, authenticated, isInside } from './service-access.js';
import type { ServiceCells } from './service-cells.js';
import type { ServiceCheckpoints } from './service-checkpoints.js';
import { serviceGate } from './service-gate.js';
import { checkRole, type ServiceKeys } from './service-keys.js';
import type { KeyRecord } from './service-store.js';

/** What routes work with: those of the service, and those of other protocols beside them. */
export interface ServiceParts {
  readonly cells: ServiceCells;
  readonly checkpoints: ServiceCheckpoints;
  readonly keys: ServiceKeys;
  readonly requests: RequestShares;
  /** Signs links to ports of cells, where the service has previews. */
  readonly previews?: PreviewLinks | undefined;
  /** Signs what clients bring back: links and keys of sessions. The same after a restart. */
  readonly secret: string;
  /** Where clients reach the service, if its owner says so; else the address of their request. */
  readonly url: string | undefined;
  readonly records: Records;
  readonly history: CellHistory;
  /** Where the built console is, if not in this package. */
  readonly console?: string | undefined;
  readonly log: Log;
}

/** Another protocol on the same cells, under the same keys: it asks `ServiceKeys` whose request it is. */
export type ServiceMount = (parts: ServiceParts) => Mount;

export function createServiceApp(
  parts: ServiceParts,
  exposure: Pick<Exposure, 'hosts' | 'origins'>,
  also: readonly ServiceMount[] = [],
): FastifyInstance {
  const { log } = parts;
  const app = createHttpApp({ access: createAccess({ ...exposure, ownPages: true }), log });
  mount(app, [
    {
      prefix: '',
      sockets: true,
      routes(scope) {
        const askers = authenticated(scope, parts);
        scope.setNotFoundHandler((request, reply) => {
          const message = `There is no ${request.method} ${request.url.split('?')[0]} here.`;
          sendError(reply, new WorkcellError('not-found', message), log);
        });
        noteAnswers(scope, parts, askers);
        healthRoutes(scope, parts, askers);
        operatorRoutes(scope, parts, askers);
        cellRoutes(scope, parts, askers);
        checkpointRoutes(scope, parts, askers);
        keyRoutes(scope, parts, askers);
        recordRoutes(scope, parts.records, serviceGate(parts, askers));
        consoleRoutes(scope, parts.console);
        scope.register(async (inner) => insideRoutes(inner, parts, askers), { prefix: '/v1/cells/:cell' });
      },
    },
    ...also.map((protocol) => protocol(parts)),
  ]);
  return app;
}

/** Counts an answer for its tenant, and writes it down: the pattern of its route, never its address or what it brought. */
function noteAnswers(scope: FastifyInstance, { cells, log }: ServiceParts, askers: Askers): void {
  scope.addHook('onResponse', (request, reply, done) => {
    const asker: KeyRecord | undefined = askers(request);
    const { statusCode: status } = reply;
    const error = failureOf(reply);
    if (asker !== undefined) cells.figures.answered(asker.tenant, status, error);
    log(status < 500 ? 'debug' : 'warn', 'A request was answered.', {
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url,
      status,
      ms: Math.round(reply.elapsedTime),
      ...(error !== undefined && { error }),
      ...(asker !== undefined && { tenant: asker.tenant, key: asker.id }),
      ...(isInside(request) && { cell: (request.params as { cell: string }).cell }),
    });
    done();
  });
}

function healthRoutes(app: FastifyInstance, { cells }: ServiceParts, askers: Askers): void {
  app.get('/healthz', { config: { open: true } }, async () => ({ alive: true }));
  app.get('/readyz', { config: { open: true } }, async (_request, reply) => {
    const ready = await cells.isReady();
    return reply.code(ready ? 200 : 503).send({ ready });
  });
  app.get('/openapi.json', { config: { open: true } }, async () => {
    const { serviceOpenapi } = await import('./service-openapi.js');
    return serviceOpenapi();
  });
  app.get('/v1/templates', async (request) => {
    checkRole(askers(request), 'reader', 'list templates');
    return cells.templates.map(({ name, backend, ttlMs, idleMs, onIdle }) => ({
      name,
      backend,
      ttlMs,
      idleMs,
      onIdle,
    }));
  });
}

function keyRoutes(app: FastifyInstance, { keys, cells }: ServiceParts, askers: Askers): void {
  app.post('/v1/keys', async (request, reply) => {
    const asker = askers(request);
    const wanted = parse(createKeySchema, request.body ?? {});
    const key = await keys.create(asker, wanted, (tenant, cell) => cells.get(tenant, cell).id);
    return reply.code(201).send(key);
  });
  app.get('/v1/keys', async (request) => keys.list(askers(request), parse(listKeysQuery, request.query)));
  app.delete('/v1/keys/:key', async (request, reply) => {
    await keys.remove(askers(request), (request.params as { key: string }).key);
    return reply.code(204).send();
  });
}
