/** Finds the existing cell that a request asks for: by the key of the request, or by its name. */
import { WorkcellError } from '../protocol/index.js';
import type { CellRecord, ServiceStore } from './service-store.js';

/** A request that may come again: its key, and what distinguishes it from another one with that key. */
export interface AskedRequest {
  readonly key: string;
  readonly fingerprint: string;
}

interface Known {
  readonly store: Pick<ServiceStore, 'request'>;
  readonly records: ReadonlyMap<string, CellRecord>;
}

/** By its id or its name, among those of a tenant. */
export function findCell(
  records: ReadonlyMap<string, CellRecord>,
  tenant: string,
  cell: string,
): CellRecord | undefined {
  const byId = records.get(cell);
  if (byId?.tenant === tenant) return byId;
  for (const record of records.values()) if (record.tenant === tenant && record.name === cell) return record;
  return undefined;
}

/** The one that this very request has made before. */
export async function askedBefore(
  { store, records }: Known,
  tenant: string,
  request: AskedRequest | undefined,
): Promise<CellRecord | undefined> {
  const before = request === undefined ? undefined : await store.request(tenant, request.key);
  if (request === undefined || before === undefined) return undefined;
  if (before.fingerprint !== request.fingerprint)
    throw new WorkcellError(
      'already-exists',
      `The key "${request.key}" was used for another request. Use a new key for each.`,
      { details: { key: request.key } },
    );
  // Create a cell anew that somebody has deleted since, or whose start failed.
  return records.get(before.cell);
}

/** The one of that name, if it fits. */
export function namedBefore(
  records: ReadonlyMap<string, CellRecord>,
  tenant: string,
  { name, template }: { readonly name?: string | undefined; readonly template: string },
): CellRecord | undefined {
  const record = name === undefined ? undefined : findCell(records, tenant, name);
  if (record === undefined || record.template === template) return record;
  throw new WorkcellError(
    'already-exists',
    `There is a cell "${name}", made from the template "${record.template}". Ask for that template, or give another name.`,
    { details: { name, template: record.template } },
  );
}
