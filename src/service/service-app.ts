/** The routes of the service: cells, keys, templates, and below each cell the native API of an executor. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createAccess } from '../base/http/access.js';
import { createHttpApp, mount } from '../base/http/http-app.js';
import { sendError } from '../base/http/http-errors.js';
import type { Exposure, Log } from '../base/http/http-options.js';
import { parse } from '../base/http/parse-request.js';
import { nativeRoutes } from '../cell/server/executor-app.js';
import type { ServerContext } from '../cell/server/server-context.js';
import { WorkcellError } from '../protocol/index.js';
import {
  type CellPage,
  changeCellSchema,
  createCellSchema,
  createKeySchema,
  listCellsQuery,
  type ServiceCell,
} from '../protocol/service-wire.js';
import { heartbeatMs, instanceHeader, keyHeader, keySchema } from '../protocol/wire.js';
import type { ServiceCells } from './service-cells.js';
import { checkRole, iso, type ServiceKeys } from './service-keys.js';
import { renderServiceMetrics } from './service-metrics.js';
import type { CellRecord, KeyRecord } from './service-store.js';

interface Parts {
  readonly cells: ServiceCells;
  readonly keys: ServiceKeys;
  readonly log: Log;
}

export function createServiceApp(
  parts: Parts,
  exposure: Pick<Exposure, 'hosts' | 'origins'>,
): FastifyInstance {
  const { log } = parts;
  const app = createHttpApp({ access: createAccess(exposure), log });
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
        healthRoutes(scope, parts, askers);
        cellRoutes(scope, parts, askers);
        keyRoutes(scope, parts, askers);
        scope.register(async (inner) => insideRoutes(inner, parts, askers), { prefix: '/v1/cells/:cell' });
      },
    },
  ]);
  return app;
}

type Askers = (request: FastifyRequest) => KeyRecord;

/** Every route wants a key, unless it is `open`; also those of cells that are open where a server has one cell. */
function authenticated(scope: FastifyInstance, { keys }: Parts): Askers {
  const askers = new WeakMap<FastifyRequest, KeyRecord>();
  scope.addHook('onRequest', (request, reply, done) => {
    const { open } = request.routeOptions.config;
    if (open !== true || isInside(request)) {
      const asker = keys.authenticate(request.headers);
      askers.set(request, asker);
      const { socket } = request.raw;
      whenOver(
        request,
        reply,
        keys.track(asker, () => socket.destroy()),
      );
    }
    done();
  });
  return (request) => askers.get(request) as KeyRecord;
}

function isInside(request: FastifyRequest): boolean {
  return (request.params as { cell?: string } | undefined)?.cell !== undefined;
}

function healthRoutes(app: FastifyInstance, { cells }: Parts, askers: Askers): void {
  app.get('/healthz', { config: { open: true } }, async () => ({ alive: true }));
  app.get('/readyz', { config: { open: true } }, async () => ({ ready: true }));
  app.get('/metrics', async (request, reply) => {
    checkRole(askers(request), 'operator', 'read the metrics');
    return reply.type('text/plain; version=0.0.4; charset=utf-8').send(renderServiceMetrics(cells));
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

function cellRoutes(app: FastifyInstance, { cells }: Parts, askers: Askers): void {
  app.post('/v1/cells', async (request, reply) => {
    const asker = askers(request);
    checkRole(asker, 'user', 'make cells');
    const key = request.headers[keyHeader];
    const { record, isNew } = await cells.create(
      asker.tenant,
      parse(createCellSchema, request.body ?? {}),
      key === undefined ? undefined : { key: parse(keySchema, key), fingerprint: request.bodyHash },
    );
    return reply.code(isNew ? 201 : 200).send(shownCell(record));
  });

  app.get('/v1/cells', async (request) => {
    const asker = askers(request);
    checkRole(asker, 'reader', 'list cells');
    const query = parse(listCellsQuery, request.query);
    if (query.tenant !== undefined && query.tenant !== asker.tenant)
      checkRole(asker, 'operator', 'list cells of other tenants');
    const all = cells.list(query.tenant ?? asker.tenant);
    return page(asker.cell === undefined ? all : all.filter(({ id }) => id === asker.cell), query);
  });

  app.get('/v1/cells/:cell', async (request) => shownCell(asked(cells, askers(request), request, 'reader')));

  app.patch('/v1/cells/:cell', async (request) => {
    const { tenant, id } = asked(cells, askers(request), request, 'user');
    return shownCell(cells.change(tenant, id, parse(changeCellSchema, request.body)));
  });

  app.delete('/v1/cells/:cell', async (request, reply) => {
    const { tenant, id } = asked(cells, askers(request), request, 'user');
    await cells.remove(tenant, id);
    return reply.code(204).send();
  });

  app.get('/v1/cells/:cell/hold', async (request, reply) => {
    const { tenant, id } = asked(cells, askers(request), request, 'user');
    const { done } = await cells.use(tenant, id);
    whenOver(request, reply, done);
    hold(reply);
    return reply;
  });

  app.post('/v1/cells/:cell/pause', async (request) => {
    const { tenant, id } = asked(cells, askers(request), request, 'user');
    return shownCell(await cells.pause(tenant, id));
  });

  app.post('/v1/cells/:cell/resume', async (request) => {
    const { tenant, id } = asked(cells, askers(request), request, 'user');
    return shownCell(await cells.resume(tenant, id));
  });
}

function keyRoutes(app: FastifyInstance, { keys, cells }: Parts, askers: Askers): void {
  app.post('/v1/keys', async (request, reply) => {
    const asker = askers(request);
    const wanted = parse(createKeySchema, request.body ?? {});
    const key = keys.create(asker, wanted, (tenant, cell) => cells.get(tenant, cell).id);
    return reply.code(201).send(key);
  });
  app.get('/v1/keys', async (request) => keys.list(askers(request)));
  app.delete('/v1/keys/:key', async (request, reply) => {
    keys.remove(askers(request), (request.params as { key: string }).key);
    return reply.code(204).send();
  });
}

/** The native API of one cell. */
function insideRoutes(scope: FastifyInstance, { cells, log }: Parts, askers: Askers): void {
  const contexts = new WeakMap<FastifyRequest, ServerContext>();
  scope.addHook('onRequest', async (request, reply) => {
    if (request.is404) return;
    const asker = askers(request);
    const { tenant, id, state } = asked(cells, asker, request, neededInside(request));
    // To wake a cell is a change.
    if (state === 'paused') asked(cells, asker, request, 'user');
    const { context, done } = await cells.use(tenant, id);
    whenOver(request, reply, done);
    contexts.set(request, context);
    void reply.header(instanceHeader, context.info.instance);
  });
  nativeRoutes(scope, (request) => contexts.get(request) as ServerContext, log);
}

/** A reader may look: what starts nothing and changes nothing. */
function neededInside(request: FastifyRequest): 'reader' | 'user' {
  const { method, routeOptions, ws } = request;
  const looks = ['/v1/files', '/v1/events', '/v1/info', '/v1/stats', '/openapi.json', '/docs', '/alive'];
  const route = routeOptions.url ?? '';
  const isLook = looks.some((path) => route.endsWith(`/:cell${path}`));
  return isLook && (method === 'GET' || method === 'HEAD') && (!ws || route.endsWith('/v1/events'))
    ? 'reader'
    : 'user';
}

/** An answer that never ends: while it is open, somebody uses the cell. */
function hold(reply: FastifyReply): void {
  reply.hijack();
  reply.raw.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' });
  reply.raw.write('\n');
  // Tells a reader that is gone from one that is quiet.
  const timer = setInterval(() => reply.raw.write('\n'), heartbeatMs);
  timer.unref();
  reply.raw.once('close', () => clearInterval(timer));
}

/** Once, when the answer has gone out, or the socket that the request became is closed; at once if that has been. */
function whenOver(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const { socket } = request.raw;
  if (socket.destroyed || reply.raw.closed) done();
  else if (request.ws) socket.once('close', done);
  else reply.raw.once('close', done);
}

/** The cell that a request is about, for a key that may do that. */
function asked(
  cells: ServiceCells,
  asker: KeyRecord,
  request: FastifyRequest,
  needed: 'reader' | 'user',
): CellRecord {
  const { cell } = request.params as { cell: string };
  const others = asker.role === 'operator' ? cells.byId(cell) : undefined;
  const record = others ?? cells.get(asker.tenant, cell);
  if (asker.cell !== undefined && asker.cell !== record.id)
    throw new WorkcellError('cell-not-found', `There is no cell ${JSON.stringify(cell)}.`, {
      details: { cell },
    });
  // A key for this very cell is as good here as one for all.
  checkRole(
    { ...asker, cell: undefined },
    needed,
    needed === 'user' ? 'change this cell' : 'look at this cell',
  );
  return record;
}

/** From one id to the next, so that cells that come and go in between are neither missed nor told twice. */
function page(
  records: readonly CellRecord[],
  { label = [], state, limit, cursor = '' }: ReturnType<typeof listCellsQuery.parse>,
): CellPage {
  const wanted = [label].flat().map(parseLabel);
  const fitting = records
    .filter((record) => record.id > cursor && (state === undefined || record.state === state))
    .filter(({ labels }) =>
      wanted.every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value),
    )
    .toSorted((left, right) => (left.id < right.id ? -1 : 1));
  const shown = fitting.slice(0, limit);
  const last = shown.at(-1);
  return {
    cells: shown.map(shownCell),
    ...(fitting.length > limit && last !== undefined && { next: last.id }),
  };
}

function parseLabel(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1)
    throw new WorkcellError(
      'invalid-action',
      `The label ${JSON.stringify(text)} is not valid; write label=name=value.`,
    );
  return [text.slice(0, at), text.slice(at + 1)];
}

function shownCell(record: CellRecord): ServiceCell {
  const { id, tenant, name, template, state, labels, idleMs, onIdle, ref, workspace, isolation } = record;
  const { createdAt, usedAt, expiresAt } = record;
  return {
    id,
    tenant,
    ...(name !== undefined && { name }),
    template,
    state,
    labels,
    createdAt: iso(createdAt),
    usedAt: iso(usedAt),
    ...(expiresAt !== undefined && { expiresAt: iso(expiresAt) }),
    ...(idleMs !== undefined && { idleMs }),
    onIdle,
    backend: ref.backend,
    ...(workspace !== undefined && { workspace }),
    ...(isolation !== undefined && { isolation }),
  };
}
