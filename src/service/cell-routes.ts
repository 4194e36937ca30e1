/** Cells by API: make, find, change, pause, end. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { Outgoing } from '../base/http/outgoing.js';
import { parse } from '../base/http/parse-request.js';
import { WorkcellError } from '../protocol/index.js';
import {
  type CellPage,
  changeCellSchema,
  createCellSchema,
  createPreviewSchema,
  getCellQuery,
  listCellsQuery,
  type Preview,
  watchCellsQuery,
} from '../protocol/service-wire.js';
import { heartbeatMs, keyHeader, keySchema, linesType } from '../protocol/wire.js';
import { type Askers, cellFor, whenOver } from './service-access.js';
import type { ServiceParts } from './service-app.js';
import { checkRole, iso } from './service-keys.js';
import type { CellRecord } from './service-store.js';
import { shownCell } from './shown-cell.js';
import { waitForState, watchCells } from './watch-cells.js';

export function cellRoutes(app: FastifyInstance, { cells, previews }: ServiceParts, askers: Askers): void {
  /** The cells of the tenant that a query is about, with these labels, as far as the key may see them. */
  const seen = (request: FastifyRequest, query: z.output<typeof watchCellsQuery>) => {
    const asker = askers(request);
    checkRole(asker, 'reader', 'list cells');
    if (query.tenant !== undefined && query.tenant !== asker.tenant)
      checkRole(asker, 'operator', 'list cells of other tenants');
    const tenant = query.tenant === '*' ? undefined : (query.tenant ?? asker.tenant);
    const wanted = [query.label ?? []].flat().map(parseLabel);
    const fits = (record: CellRecord) =>
      (tenant === undefined || record.tenant === tenant) &&
      (asker.cell === undefined || asker.cell === record.id) &&
      wanted.every(([name, value]) => Object.hasOwn(record.labels, name) && record.labels[name] === value);
    return { tenant, fits };
  };
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
    const query = parse(listCellsQuery, request.query);
    const { tenant, fits } = seen(request, query);
    return page(cells.list(tenant).filter(fits), query);
  });

  app.get('/v1/cells/watch', async (request, reply) => {
    const { fits } = seen(request, parse(watchCellsQuery, request.query));
    const outgoing = startLines(reply, linesType);
    for await (const item of watchCells(cells, fits, outgoing.gone))
      await outgoing.write(`${JSON.stringify(item)}\n`);
    return reply;
  });

  app.get('/v1/cells/:cell', async (request, reply) => {
    const record = asked(request, 'reader');
    const { wait, timeoutMs } = parse(getCellQuery, request.query);
    if (wait === undefined) return shownCell(record);
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    return shownCell(await waitForState(cells, record, wait, { timeoutMs, signal: gone.signal }));
  });

  app.patch('/v1/cells/:cell', async (request) => {
    const { tenant, id } = asked(request, 'user');
    return shownCell(await cells.change(tenant, id, parse(changeCellSchema, request.body)));
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
    startLines(reply, 'text/plain; charset=utf-8');
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

/** An answer that never ends; an empty line now and then distinguishes a reader that has left from a quiet one. */
function startLines(reply: FastifyReply, type: string): Outgoing {
  reply.hijack();
  reply.raw.writeHead(200, { 'content-type': type, 'cache-control': 'no-store', 'x-accel-buffering': 'no' });
  reply.raw.write('\n');
  const outgoing = new Outgoing(reply.raw);
  const timer = setInterval(() => void outgoing.write('\n'), heartbeatMs);
  timer.unref();
  const stop = () => clearInterval(timer);
  // The client may have left while its cell woke.
  if (outgoing.gone.aborted) stop();
  else outgoing.gone.addEventListener('abort', stop, { once: true });
  return outgoing;
}

/**
 * Pages go from one id to the next, so that cells which come and go in between are neither missed nor listed twice.
 */
function page(
  records: readonly CellRecord[],
  { state, limit, cursor = '' }: z.output<typeof listCellsQuery>,
): CellPage {
  const fitting = records
    .filter((record) => record.id > cursor && (state === undefined || record.state === state))
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
