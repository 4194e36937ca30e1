/**
 * Records and questions by the keys of the service: an operator has all of them, others those of cells that they see, and
 * admins also the records of those that ended.
 */
import type { FastifyRequest } from 'fastify';
import type { CellHistory } from './cell-history.js';
import type { RecordGate } from './record-routes.js';
import type { ServiceCells } from './service-cells.js';
import { checkRole } from './service-keys.js';
import type { KeyRecord } from './service-store.js';

export function serviceGate(
  { cells, history }: { readonly cells: ServiceCells; readonly history: CellHistory },
  askers: (request: FastifyRequest) => KeyRecord,
): RecordGate {
  const cellsOf = ({ role, tenant, cell }: KeyRecord): string[] =>
    cells
      .list(role === 'operator' ? undefined : tenant)
      .map(({ id }) => id)
      .filter((id) => cell === undefined || cell === id);
  return {
    sees(request) {
      const asker = askers(request);
      if (asker.role === 'operator') return () => true;
      const own = new Set(cellsOf(asker));
      return (id) => own.has(id) || (seesEnded(asker) && history.had(asker.tenant, id));
    },
    page(request, page) {
      const asker = askers(request);
      if (asker.role === 'operator') return undefined;
      const { tenant, cell } = asker;
      return history.page({ tenant, only: cell, withEnded: seesEnded(asker) }, page);
    },
    info(request) {
      const { role, tenant } = askers(request);
      return { cells: true, role, tenant };
    },
    cells: (request) => cellsOf(askers(request)),
    live(id) {
      const runtime = cells.seen(id);
      return runtime && { output: (signal) => runtime.events.output(signal), use: () => runtime.glance() };
    },
    // The policy asks a person. A key that only uses cells may be the agent's own.
    decides(request) {
      const asker = askers(request);
      checkRole(asker, 'admin', 'answer questions');
      return asker.note ?? asker.id;
    },
  };
}

/** Who sees what a cell did when it has ended: not a key for one cell, which ends with that cell. */
function seesEnded({ role, cell }: KeyRecord): boolean {
  return role === 'admin' && cell === undefined;
}
