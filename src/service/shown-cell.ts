/** A cell as its service tells of it. */
import type { ServiceCell } from '../protocol/service-wire.js';
import { iso } from './service-keys.js';
import type { CellRecord } from './service-store.js';

export function shownCell(record: CellRecord): ServiceCell {
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
