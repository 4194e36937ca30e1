/** Whose request it is, which cell it is about, and when it is over. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { WorkcellError } from '../protocol/index.js';
import type { ServiceParts } from './service-app.js';
import type { ServiceCells } from './service-cells.js';
import { checkRole } from './service-keys.js';
import type { CellRecord, KeyRecord } from './service-store.js';

export type Askers = (request: FastifyRequest) => KeyRecord;

/** Every route needs a key, unless it is `open`; also routes of cells that need none where a server has one cell. */
export function authenticated(scope: FastifyInstance, parts: Admitting): Askers {
  const askers = new WeakMap<FastifyRequest, KeyRecord>();
  scope.addHook('onRequest', (request, reply, done) => {
    const { open } = request.routeOptions.config;
    if (open !== true || isInside(request)) askers.set(request, admit(parts, request, reply));
    done();
  });
  return (request) => askers.get(request) as KeyRecord;
}

type Admitting = Pick<ServiceParts, 'keys' | 'requests'>;

/** Whose request it is. It counts in the share of its key and tenant, and is cut off when the key goes. */
export function admit(
  { keys, requests }: Admitting,
  request: FastifyRequest,
  reply: FastifyReply,
): KeyRecord {
  const asker = keys.authenticate(request.headers);
  whenOver(request, reply, requests.enter(asker));
  const { socket } = request.raw;
  const untrack = keys.track(asker, () => socket.destroy());
  whenOver(request, reply, untrack);
  return asker;
}

/** Whether it is about one cell. */
export function isInside(request: FastifyRequest): boolean {
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
