/** What a service does with checkpoints of its cells: makes them, goes back to them, compares them, and starts cells with them. */
import { type KeepingRewind, noteFork, withSaved } from '../backends/saved-checkpoints.js';
import type { Runtime, WorkspaceChange } from '../index.js';
import type { AskedCell } from './new-record.js';
import type { SavedCheckpoints } from './saved-checkpoints.js';
import type { ServiceCells } from './service-cells.js';
import type { CellRecord, CheckpointRecord } from './service-store.js';

interface AskedFork {
  readonly count: number;
  /** Default: the files as they are now, which become a checkpoint. */
  readonly checkpoint?: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly ttlMs?: number | undefined;
  /** For protocols of other systems. */
  readonly more?: Partial<Pick<AskedCell, 'env' | 'network' | 'facade' | 'onExpiry'>> | undefined;
}

export interface Compared {
  readonly changes: WorkspaceChange[];
  /** How many more there are. */
  readonly more: number;
}

/** An answer holds no more. */
const mostChanges = 10_000;

export class ServiceCheckpoints {
  readonly saved: SavedCheckpoints;
  readonly #cells: ServiceCells;

  constructor(cells: ServiceCells, saved: SavedCheckpoints) {
    this.#cells = cells;
    this.saved = saved;
  }

  /** `facade`: what a protocol of another system keeps with it. */
  create(
    tenant: string,
    cell: string,
    label?: string,
    facade?: CheckpointRecord['facade'],
  ): Promise<CheckpointRecord> {
    return this.#in(tenant, cell, (runtime) => this.#create(runtime, tenant, label, facade));
  }

  /** With `recovery`, keeps what is there now as another checkpoint, before it changes any file. */
  rewind(
    tenant: string,
    cell: string,
    { checkpoint, recovery }: { readonly checkpoint: string; readonly recovery: boolean },
  ): Promise<Compared & { readonly recovery?: CheckpointRecord }> {
    const to = (runtime: Runtime) =>
      this.saved.reading(tenant, [checkpoint], (found) =>
        withSaved(runtime, found, async () => {
          if (!recovery) return bounded((await runtime.rewind(checkpoint, { recovery: false })).changes);
          let kept: CheckpointRecord | undefined;
          const how: KeepingRewind = {
            keeping: async (made) => {
              kept = await this.saved.keep(runtime, made, { tenant, mustFit: false });
            },
          };
          const { changes } = await runtime.rewind(checkpoint, how);
          return { ...bounded(changes), ...(kept !== undefined && { recovery: kept }) };
        }),
      );
    return this.#in(tenant, cell, (runtime) =>
      recovery ? this.saved.making(tenant, () => to(runtime)) : to(runtime),
    );
  }

  /** From a checkpoint to another one, or to the cell as it is now. */
  diff(tenant: string, cell: string, before: string, after?: string): Promise<Compared> {
    const ids = after === undefined ? [before] : [before, after];
    return this.#in(tenant, cell, (runtime) =>
      this.saved.reading(tenant, ids, (found) =>
        withSaved(runtime, found, async () => bounded(await runtime.diff(before, after ?? runtime))),
      ),
    );
  }

  /** Other cells of its template that begin with its files. All of them start, or none. */
  fork(
    tenant: string,
    cell: string,
    { count, checkpoint, labels, ttlMs, more }: AskedFork,
  ): Promise<{ readonly checkpoint: CheckpointRecord; readonly cells: readonly CellRecord[] }> {
    return this.#in(tenant, cell, async (runtime, { template }) => {
      const from =
        checkpoint === undefined
          ? await this.#create(runtime, tenant, 'fork')
          : this.saved.get(tenant, checkpoint);
      const asked = { template, labels, env: {}, checkpoint: from.id, ttlMs, ...more };
      const starts = Array.from({ length: count }, () => this.#cells.create(tenant, asked));
      const results = await Promise.allSettled(starts);
      const cells = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.record] : []));
      const failed = results.find((result) => result.status === 'rejected');
      if (failed !== undefined) {
        await Promise.all(cells.map(({ id }) => this.#cells.remove(tenant, id)));
        if (checkpoint === undefined) await this.saved.remove(tenant, from.id);
        throw failed.reason;
      }
      for (const { id } of cells) noteFork(runtime, from.id, id);
      return { checkpoint: from, cells };
    });
  }

  #create(
    runtime: Runtime,
    tenant: string,
    label?: string,
    facade?: CheckpointRecord['facade'],
  ): Promise<CheckpointRecord> {
    return this.saved.making(tenant, async () =>
      this.saved.keep(runtime, await runtime.checkpoint(label), { tenant, mustFit: true, facade }),
    );
  }

  async #in<T>(
    tenant: string,
    cell: string,
    work: (runtime: Runtime, record: CellRecord) => Promise<T>,
  ): Promise<T> {
    const record = this.#cells.get(tenant, cell);
    const { runtime, done } = await this.#cells.use(tenant, record.id);
    try {
      return await work(runtime, record);
    } finally {
      done();
    }
  }
}

function bounded(changes: readonly WorkspaceChange[]): Compared {
  return { changes: changes.slice(0, mostChanges), more: Math.max(0, changes.length - mostChanges) };
}
