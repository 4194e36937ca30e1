/** Whose request it is, which cell it is about, and when it is over. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { WorkcellError } from '../protocol/index.js';
import type { ServiceCells } from './service-cells.js';
import { checkRole, type ServiceKeys } from './service-keys.js';
import type { CellRecord, KeyRecord } from './service-store.js';

export type Askers = (request: FastifyRequest) => KeyRecord;

/** Every route needs a key, unless it is `open`; also routes of cells that need none where a server has one cell. */
export function authenticated(scope: FastifyInstance, keys: ServiceKeys): Askers {
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

/** The cell that a request is about, for a key that may do that. */
export function cellFor(
  cells: ServiceCells,
  asker: KeyRecord,
  cell: string,
  needed: 'reader' | 'user',
): CellRecord {
  const others = asker.role === 'operator' ? cells.byId(cell) : undefined;
  const record = others ?? cells.get(asker.tenant, cell);
  if (asker.cell !== undefined && asker.cell !== record.id)
    throw new WorkcellError('cell-not-found', `There is no cell ${JSON.stringify(cell)}.`, {
      details: { cell },
    });
  checkRole(asker, needed, needed === 'user' ? 'change this cell' : 'look at this cell', record.id);
  return record;
}

/** Calls `done` once, after the answer, or when the request's socket closes; at once if that has happened already. */
export function whenOver(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const { socket } = request.raw;
  if (socket.destroyed || reply.raw.closed) done();
  else if (request.ws) socket.once('close', done);
  else reply.raw.once('close', done);
}
