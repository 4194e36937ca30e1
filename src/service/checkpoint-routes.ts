/** Checkpoints by API: make, list, compare, go back, branch off, remove. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parse } from '../base/http/parse-request.js';
import {
  type CheckpointPage,
  checkpointCellSchema,
  diffQuery,
  forkCellSchema,
  listCheckpointsQuery,
  rewindCellSchema,
  type ServiceCheckpoint,
} from '../protocol/checkpoint-wire.js';
import { WorkcellError } from '../protocol/index.js';
import { type Askers, cellFor } from './service-access.js';
import type { ServiceParts } from './service-app.js';
import { checkRole, iso } from './service-keys.js';
import type { CheckpointRecord, KeyRecord } from './service-store.js';
import { shownCell } from './shown-cell.js';

export function checkpointRoutes(
  app: FastifyInstance,
  { cells, checkpoints }: ServiceParts,
  askers: Askers,
): void {
  const asked = (request: FastifyRequest) =>
    cellFor(cells, askers(request), (request.params as { cell: string }).cell, 'user');
  /** Checks a checkpoint that a request names: a key for one cell has those of that cell. */
  const named = (asker: KeyRecord, tenant: string, id: string): CheckpointRecord => {
    const record = checkpoints.saved.get(tenant, id);
    if (maySee(asker, record)) return record;
    throw new WorkcellError('not-found', `There is no checkpoint ${JSON.stringify(id)}.`, {
      details: { id },
    });
  };

  app.post('/v1/cells/:cell/checkpoints', async (request, reply) => {
    const { tenant, id } = asked(request);
    const { label } = parse(checkpointCellSchema, request.body ?? {});
    return reply.code(201).send(shown(await checkpoints.create(tenant, id, label)));
  });

  app.post('/v1/cells/:cell/rewind', async (request) => {
    const { tenant, id } = asked(request);
    const wanted = parse(rewindCellSchema, request.body);
    named(askers(request), tenant, wanted.checkpoint);
    const { recovery, ...compared } = await checkpoints.rewind(tenant, id, wanted);
    return { ...compared, ...(recovery !== undefined && { recovery: shown(recovery) }) };
  });

  app.post('/v1/cells/:cell/fork', async (request, reply) => {
    const asker = askers(request);
    const { tenant, id, facade } = asked(request);
    checkRole(asker, 'user', 'make cells');
    if (facade !== undefined) throw ofAnotherProtocol(id);
    const wanted = parse(forkCellSchema, request.body ?? {});
    const forked = await checkpoints.fork(tenant, id, wanted);
    return reply.code(201).send({ checkpoint: shown(forked.checkpoint), cells: forked.cells.map(shownCell) });
  });

  app.get('/v1/cells/:cell/diff', async (request) => {
    const { tenant, id } = asked(request);
    const { before, after } = parse(diffQuery, request.query);
    for (const one of [before, after]) if (one !== undefined) named(askers(request), tenant, one);
    return checkpoints.diff(tenant, id, before, after);
  });

  app.get('/v1/checkpoints', async (request): Promise<CheckpointPage> => {
    const asker = askers(request);
    checkRole(asker, 'reader', 'list checkpoints');
    const { cell, limit, cursor } = parse(listCheckpointsQuery, request.query);
    const all = checkpoints.saved
      .list(asker.tenant)
      .filter((record) => maySee(asker, record) && (cell === undefined || record.cell === cell));
    const from = cursor === undefined ? 0 : all.findIndex((record) => isBehind(record, cursor));
    const shownNow = from < 0 ? [] : all.slice(from, from + limit);
    const last = shownNow.at(-1);
    const isLast = from < 0 || from + limit >= all.length;
    return {
      checkpoints: shownNow.map(shown),
      ...(last !== undefined && !isLast && { next: `${last.createdAt}-${last.id}` }),
    };
  });

  app.get('/v1/checkpoints/:checkpoint', async (request) => {
    const asker = askers(request);
    checkRole(asker, 'reader', 'look at checkpoints');
    return shown(named(asker, asker.tenant, checkpointOf(request)));
  });

  app.delete('/v1/checkpoints/:checkpoint', async (request, reply) => {
    const asker = askers(request);
    const { id, cell } = named(asker, asker.tenant, checkpointOf(request));
    checkRole(asker, 'user', 'remove checkpoints', cell);
    await checkpoints.saved.remove(asker.tenant, id);
    return reply.code(204).send();
  });
}

/** Its template may reach more than this cell does, which only the protocol that made it knows. */
function ofAnotherProtocol(cell: string): WorkcellError {
  return new WorkcellError(
    'capability-unsupported',
    `Cell "${cell}" comes from another protocol, which knows what its forks may reach. Fork it there, or create a cell with a checkpoint of it.`,
    { details: { cell, capability: 'fork' } },
  );
}

function checkpointOf(request: FastifyRequest): string {
  return (request.params as { checkpoint: string }).checkpoint;
}

function maySee(asker: KeyRecord, { cell }: CheckpointRecord): boolean {
  return asker.cell === undefined || asker.cell === cell;
}

function isBehind({ createdAt, id }: CheckpointRecord, cursor: string): boolean {
  const [at = '', before = ''] = cursor.split('-');
  return createdAt > Number(at) || (createdAt === Number(at) && id > before);
}

function shown({
  createdAt,
  label,
  parent,
  facade: _facade,
  ...others
}: CheckpointRecord): ServiceCheckpoint {
  return {
    ...others,
    ...(label !== undefined && { label }),
    ...(parent !== undefined && { parent }),
    createdAt: iso(createdAt),
  };
}
