/** The record of a cell that somebody asks for: within what its template allows. */
import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import type { changeCellSchema, createCellSchema } from '../protocol/service-wire.js';
import type { CellRecord } from './service-store.js';
import type { Template } from './templates.js';

/** `network` and the rest are for protocols of other systems; the native one leaves them to the template. */
export type AskedCell = z.output<typeof createCellSchema> &
  Pick<CellRecord, 'onExpiry' | 'facade'> & {
    /** Takes the place of the template's, and must not be wider. */
    readonly network?: unknown;
  };

/** `id`: that of a cell that was started ahead. */
export function newRecord(
  tenant: string,
  asked: Omit<AskedCell, 'template' | 'env'>,
  template: Template,
  id: string = randomBytes(10).toString('hex'),
): CellRecord {
  const now = Date.now();
  const ttlMs = least(asked.ttlMs, template.ttlMs);
  return {
    id,
    tenant,
    name: asked.name,
    template: template.name,
    state: 'starting',
    labels: asked.labels,
    createdAt: now,
    usedAt: now,
    expiresAt: ttlMs === undefined ? undefined : now + ttlMs,
    idleMs: least(asked.idleMs, template.idleMs),
    onIdle: template.onIdle === 'end' ? 'end' : (asked.onIdle ?? template.onIdle),
    declared: template.declared,
    ref: { backend: template.backend, place: template.place, id },
    ...(asked.onExpiry !== undefined && { onExpiry: asked.onExpiry }),
    ...(asked.facade !== undefined && { facade: asked.facade }),
  };
}

/** What a client changes, within what the template allows. `lastAt`: the longest time of that cell. */
export function changedFields(
  { labels, ttlMs, idleMs, onIdle }: z.output<typeof changeCellSchema>,
  template: Template | undefined,
  lastAt: number | undefined,
): Partial<CellRecord> {
  const expiresAt = ttlMs == null ? undefined : Date.now() + ttlMs;
  const narrowest = template?.onIdle === 'end' ? 'end' : onIdle;
  return {
    ...(labels !== undefined && { labels }),
    ...(narrowest !== undefined && { onIdle: narrowest }),
    ...(ttlMs !== undefined && { expiresAt: least(expiresAt, lastAt) }),
    ...(idleMs !== undefined && { idleMs: least(idleMs ?? undefined, template?.idleMs) }),
  };
}

function least(...values: (number | undefined)[]): number | undefined {
  const given = values.filter((value) => value !== undefined);
  return given.length === 0 ? undefined : Math.min(...given);
}
