/** The checkpoints of all tenants: their records in the store, their files in directories beside it. */
import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { type SavedCheckpoint, saveCheckpoint } from '../backends/saved-checkpoints.js';
import { discardTree } from '../base/remove-tree.js';
import type { Checkpoint, Runtime } from '../index.js';
import { WorkcellError } from '../protocol/index.js';
import type { CheckpointRecord, ServiceStore } from './service-store.js';

export interface CheckpointLimits {
  readonly maxCheckpointsPerTenant: number;
  readonly maxCheckpointBytesPerTenant: number;
}

/** One that is not whole. */
const unfinishedPrefix = '.new-';

export class SavedCheckpoints {
  readonly #store: Pick<ServiceStore, 'checkpoints' | 'putCheckpoint' | 'removeCheckpoint'>;
  readonly #directory: string;
  readonly #limits: CheckpointLimits;
  readonly #records = new Map<string, CheckpointRecord>();
  /** How many are being made, by tenant. */
  readonly #coming = new Map<string, number>();
  /** How many bytes those hold that are being kept, by tenant. */
  readonly #comingBytes = new Map<string, number>();
  /** How many read one now; who removes it waits for them. */
  readonly #readers = new Map<string, number>();
  readonly #removing = new Set<Promise<void>>();

  constructor(
    store: Pick<ServiceStore, 'checkpoints' | 'putCheckpoint' | 'removeCheckpoint'>,
    directory: string,
    limits: CheckpointLimits,
  ) {
    this.#store = store;
    this.#directory = directory;
    this.#limits = limits;
  }

  /** Reads the records, and removes what a process that was killed left. Call it once, before the first request. */
  async load(): Promise<void> {
    for (const record of await this.#store.checkpoints()) this.#records.set(record.id, record);
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(this.#directory))
      if (!this.#records.has(name)) await discardTree(join(this.#directory, name));
  }

  /** Those of a tenant, the oldest first. */
  list(tenant: string): CheckpointRecord[] {
    return [...this.#records.values()]
      .filter((record) => record.tenant === tenant)
      .toSorted((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1));
  }

  /** Those of other tenants do not exist here. */
  get(tenant: string, id: string): CheckpointRecord {
    const record = this.#records.get(id);
    if (record?.tenant === tenant) return record;
    throw new WorkcellError('not-found', `There is no checkpoint ${JSON.stringify(id)}.`, {
      details: { id },
    });
  }

  /** Fails before `work` where the tenant may have no more, and counts the one that it makes meanwhile. */
  async making<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    const { maxCheckpointsPerTenant: limit, maxCheckpointBytesPerTenant: most } = this.#limits;
    const own = this.list(tenant);
    const coming = this.#coming.get(tenant) ?? 0;
    if (own.length + coming >= limit)
      throw over(`Your tenant has ${own.length + coming} checkpoints, and ${limit} is its limit.`, {
        limit,
        of: 'checkpoints',
      });
    if (bytesOf(own) >= most)
      throw over(`The checkpoints of your tenant hold ${bytesOf(own)} bytes, and ${most} is its limit.`, {
        limit: most,
        of: 'bytes of checkpoints',
      });
    add(this.#coming, tenant, 1);
    try {
      return await work();
    } finally {
      add(this.#coming, tenant, -1);
    }
  }

  /** Keeps a checkpoint of a cell. `mustFit`: fails where it is more than the tenant may have. */
  async keep(
    runtime: Runtime,
    made: Checkpoint,
    { tenant, mustFit, facade }: Pick<CheckpointRecord, 'tenant' | 'facade'> & { readonly mustFit: boolean },
  ): Promise<CheckpointRecord> {
    const { id, label, parent, files, bytes } = made;
    const most = this.#limits.maxCheckpointBytesPerTenant;
    const unfinished = join(this.#directory, `${unfinishedPrefix}${id}`);
    // Others that are kept meanwhile count these, too.
    add(this.#comingBytes, tenant, bytes);
    try {
      const wanted = bytesOf(this.list(tenant)) + (this.#comingBytes.get(tenant) ?? 0);
      if (mustFit && wanted > most)
        throw over(
          `With this one, the checkpoints of your tenant hold ${wanted} bytes, and ${most} is its limit.`,
          {
            limit: most,
            wanted,
            of: 'bytes of checkpoints',
          },
        );
      mkdirSync(unfinished, { recursive: true, mode: 0o700 });
      await saveCheckpoint(runtime, made, unfinished);
      renameSync(unfinished, this.#at(id));
      const record = {
        id,
        tenant,
        cell: runtime.id,
        label,
        parent,
        createdAt: Date.now(),
        files,
        bytes,
        facade,
      };
      await this.#store.putCheckpoint(record);
      this.#records.set(id, record);
      return record;
    } catch (error) {
      await runtime.dropCheckpoint(made).catch(() => {});
      for (const path of [unfinished, this.#at(id)]) await discardTree(path);
      throw error;
    } finally {
      add(this.#comingBytes, tenant, -bytes);
    }
  }

  /** Calls `work` with some of a tenant's, whose files stay until it ends. */
  async reading<T, const Ids extends readonly string[]>(
    tenant: string,
    ids: Ids,
    work: (found: { readonly [Index in keyof Ids]: SavedCheckpoint }) => Promise<T>,
  ): Promise<T> {
    const records = ids.map((id) => this.get(tenant, id));
    for (const { id } of records) this.#readers.set(id, (this.#readers.get(id) ?? 0) + 1);
    try {
      const found = records.map((record) => ({ checkpoint: asMade(record), directory: this.#at(record.id) }));
      return await work(found as { readonly [Index in keyof Ids]: SavedCheckpoint });
    } finally {
      for (const { id } of records) this.#leave(id);
    }
  }

  async remove(tenant: string, id: string): Promise<void> {
    this.get(tenant, id);
    await this.#store.removeCheckpoint(id);
    const isFirst = this.#records.delete(id);
    if (isFirst && !this.#readers.has(id)) this.#discard(id);
  }

  /** Settles when what is gone is removed. */
  async close(): Promise<void> {
    await Promise.all(this.#removing);
  }

  #leave(id: string): void {
    const left = (this.#readers.get(id) ?? 1) - 1;
    if (left > 0) this.#readers.set(id, left);
    else this.#readers.delete(id);
    if (left === 0 && !this.#records.has(id)) this.#discard(id);
  }

  /** What cannot be removed goes with the next start of the service. */
  #discard(id: string): void {
    const removing = discardTree(this.#at(id))
      .catch(() => {})
      .finally(() => this.#removing.delete(removing));
    this.#removing.add(removing);
  }

  #at(id: string): string {
    return join(this.#directory, id);
  }
}

function add(counts: Map<string, number>, tenant: string, more: number): void {
  const count = (counts.get(tenant) ?? 0) + more;
  if (count === 0) counts.delete(tenant);
  else counts.set(tenant, count);
}

function bytesOf(records: readonly CheckpointRecord[]): number {
  return records.reduce((sum, { bytes }) => sum + bytes, 0);
}

function asMade({ cell, createdAt, tenant: _, facade: _facade, ...others }: CheckpointRecord): Checkpoint {
  return { ...others, runtimeId: cell, createdAt: new Date(createdAt) };
}

function over(message: string, details: Record<string, unknown>): WorkcellError {
  return new WorkcellError('rate-limited', `${message} Delete some first.`, { details });
}
