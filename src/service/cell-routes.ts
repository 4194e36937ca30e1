/** Cells by API: make, find, change, pause, end. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parse } from '../base/http/parse-request.js';
import { WorkcellError } from '../protocol/index.js';
import {
  type CellPage,
  changeCellSchema,
  createCellSchema,
  createPreviewSchema,
  listCellsQuery,
  type Preview,
} from '../protocol/service-wire.js';
import { heartbeatMs, keyHeader, keySchema } from '../protocol/wire.js';
import { type Askers, cellFor, whenOver } from './service-access.js';
import type { ServiceParts } from './service-app.js';
import { checkRole, iso } from './service-keys.js';
import type { CellRecord } from './service-store.js';
import { shownCell } from './shown-cell.js';

export function cellRoutes(app: FastifyInstance, { cells, previews }: ServiceParts, askers: Askers): void {
  const asked = (request: FastifyRequest, needed: 'reader' | 'user') =>
    cellFor(cells, askers(request), (request.params as { cell: string }).cell, needed);

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
    const all = cells.list(query.tenant === '*' ? undefined : (query.tenant ?? asker.tenant));
    return page(asker.cell === undefined ? all : all.filter(({ id }) => id === asker.cell), query);
  });

  app.get('/v1/cells/:cell', async (request) => shownCell(asked(request, 'reader')));

  app.patch('/v1/cells/:cell', async (request) => {
    const { tenant, id } = asked(request, 'user');
    return shownCell(cells.change(tenant, id, parse(changeCellSchema, request.body)));
  });

  app.delete('/v1/cells/:cell', async (request, reply) => {
    const { tenant, id } = asked(request, 'user');
    await cells.remove(tenant, id);
    return reply.code(204).send();
  });

  app.get('/v1/cells/:cell/hold', async (request, reply) => {
    const { tenant, id } = asked(request, 'user');
    const { done } = await cells.use(tenant, id);
    whenOver(request, reply, done);
    hold(reply);
    return reply;
  });

  app.post('/v1/cells/:cell/pause', async (request) => {
    const { tenant, id } = asked(request, 'user');
    return shownCell(await cells.pause(tenant, id));
  });

  app.post('/v1/cells/:cell/resume', async (request) => {
    const { tenant, id } = asked(request, 'user');
    return shownCell(await cells.resume(tenant, id));
  });

  app.post('/v1/cells/:cell/previews', async (request, reply) => {
    const { id } = asked(request, 'user');
    const { port, ttlMs } = parse(createPreviewSchema, request.body);
    if (previews === undefined)
      throw new WorkcellError(
        'capability-unsupported',
        'This service has no previews. Its operator can say where, with service.preview_listen.',
      );
    const { url, expiresAt } = previews.create(askers(request), { cell: id, port, ttlMs });
    return reply.code(201).send({ url, port, expiresAt: iso(expiresAt) } satisfies Preview);
  });
}

/** An answer that never ends: while it is open, the cell counts as used. */
function hold(reply: FastifyReply): void {
  reply.hijack();
  reply.raw.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' });
  reply.raw.write('\n');
  // Distinguishes a reader that has left from a quiet one.
  const timer = setInterval(() => reply.raw.write('\n'), heartbeatMs);
  timer.unref();
  reply.raw.once('close', () => clearInterval(timer));
}

/**
 * Pages go from one id to the next, so that cells which come and go in between are neither missed nor listed twice.
 */
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
