/** Finds the existing cell that a request asks for: by the key of the request, or by its name. */
import { WorkcellError } from '../protocol/index.js';
import type { CellRecord, ServiceStore } from './service-store.js';
import { Turns } from './turns.js';

/** A request that may come again: its key, and what distinguishes it from another one with that key. */
export interface AskedRequest {
  readonly key: string;
  readonly fingerprint: string;
}

/** `isNew`: made for this request, and not there before. */
export interface Created {
  readonly record: CellRecord;
  readonly isNew: boolean;
}

/** Requests with a key: each makes one cell, however often and wherever it comes. */
export class AskedBefore {
  readonly #store: Pick<ServiceStore, 'request'>;
  readonly #records: ReadonlyMap<string, CellRecord>;
  readonly #changes: Turns;
  /** Those that come again while the first is under way wait for it. */
  readonly #requests = new Turns();

  /** `changes`: those of cells that are under way. */
  constructor(
    store: Pick<ServiceStore, 'request'>,
    records: ReadonlyMap<string, CellRecord>,
    changes: Turns,
  ) {
    this.#store = store;
    this.#records = records;
    this.#changes = changes;
  }

  /** The cell of that request, or a new one. */
  once(tenant: string, request: AskedRequest | undefined, create: () => Promise<Created>): Promise<Created> {
    if (request === undefined) return create();
    return this.#requests.take(`${tenant} ${request.key}`, async () => {
      const before = await this.#find(tenant, request);
      const record = before && (await this.settled(before));
      return record === undefined ? create() : { record, isNew: false };
    });
  }

  /** The cell when the change that is under way is over; none if that ends it. */
  async settled({ id }: CellRecord): Promise<CellRecord | undefined> {
    await this.#changes.over(id);
    return this.#records.get(id);
  }

  async #find(tenant: string, { key, fingerprint }: AskedRequest): Promise<CellRecord | undefined> {
    const before = await this.#store.request(tenant, key);
    if (before === undefined) return undefined;
    if (before.fingerprint !== fingerprint)
      throw new WorkcellError(
        'already-exists',
        `The key "${key}" was used for another request. Use a new key for each.`,
        { details: { key } },
      );
    // Create a cell anew that somebody has deleted since, or whose start failed.
    return this.#records.get(before.cell);
  }
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
