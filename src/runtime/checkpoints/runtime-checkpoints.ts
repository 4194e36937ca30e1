/** The checkpoints of one runtime: takes, lists, compares, forks, applies and merges them, and goes back to them. */
import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { checkCancelled } from '../../base/pace.js';
import { type CheckpointRecord, WorkcellError } from '../../protocol/index.js';
import type { CaptureSource } from './capture.js';
import { CheckpointList, type Kept, type ListParts } from './checkpoint-list.js';
import type {
  ApplyOptions,
  Checkpoint,
  CheckpointOptions,
  ForkOptions,
  KeepingRewind,
  RewindOptions,
  Rewound,
  RuntimeLike,
  TakenOver,
  TakeOverOptions,
  WorkspaceState,
} from './checkpoint-types.js';
import { compareViews, type Difference } from './compare.js';
import { checkCount } from './fork-count.js';
import { type Links, partings } from './hard-links.js';
import type { HoldAs } from './hold.js';
import { keepChanges } from './kept-changes.js';
import { copyLayer, type HeldLayer, type LayerStore } from './layer-store.js';
import type { OtherPlaces } from './other-places.js';
import { historyOf } from './runtime-history.js';
import type { SavedLayer } from './saved-layer.js';
import { withBases, writingTo } from './shared-base.js';
import { describe, showChanges, type WorkspaceChange } from './show-changes.js';
import { exceptGit, existing, takeOver } from './take-over.js';
import type { View } from './workspace-view.js';
import { notWritten, stateOf, type Write, type Written, writeChanges } from './write-changes.js';

/** A runtime that started as a fork. */
interface Forked extends RuntimeLike {
  close(): Promise<void>;
}

export interface WorkspaceParts extends ListParts {
  readonly runtimeId: string;
  readonly source: CaptureSource;
  /** The caller's directory, where the workspace came from one. */
  readonly from?: string | undefined;
  readonly since: (path: string, stats: Stats | undefined) => boolean;
  readonly isOwn: (difference: Difference) => boolean;
  readonly store: LayerStore;
  readonly places?: OtherPlaces | undefined;
  /** The checkpoint of another runtime that this one began with. */
  readonly origin?: Kept | undefined;
  /** Starts another runtime like this one, with the files of a checkpoint. */
  fork(from: Kept, signal?: AbortSignal): Promise<Forked>;
  /** Makes the workspace hold what a view does, for the paths of some differences; `links` are names that are one file there. */
  write(after: View, writes: readonly Write[], links?: Links): Promise<Written>;
  /** Calls `work` while nothing changes the files of the cell. */
  hold<T>(work: () => Promise<T>, options?: HoldAs): Promise<T>;
}

export class RuntimeCheckpoints {
  readonly #parts: WorkspaceParts;
  readonly #list: CheckpointList;
  /** The capture before, whose unchanged files the next one shares. */
  #last: HeldLayer | undefined;
  /** What `apply` wrote to the caller's directory. */
  readonly #applied = new Map<string, string>();
  /** What the cell wrote in place of entries of the caller's directory. */
  readonly #covered = new Set<string>();

  constructor(parts: WorkspaceParts) {
    this.#parts = parts;
    this.#list = new CheckpointList(parts);
    const { origin } = parts;
    if (origin === undefined) return;
    const { checkpoint } = origin;
    this.#list.add({ checkpoint, held: origin.held.hold() });
    for (const path of origin.held.layer.covered) this.#covered.add(path);
    parts.record({ change: 'began', id: checkpoint.id, runtime: checkpoint.runtimeId });
  }

  list(): Checkpoint[] {
    return this.#list.all;
  }

  async take(label?: string, options: CheckpointOptions = {}): Promise<Checkpoint> {
    const { checkpoint } = await this.#stopped(() => this.#take(label, options.signal), options);
    this.#list.trim(checkpoint.id);
    return checkpoint;
  }

  /** A checkpoint of what changed since the one before, if anything did. An action never fails for want of one. */
  async takeBefore(action: string): Promise<void> {
    const label = `before ${action}`;
    try {
      await this.#stopped(
        async () => {
          const kept = await this.#capture(label);
          if (await this.#differsFromParent(kept))
            this.#list.trim(this.#keep({ ...kept, isAutomatic: true }));
          else kept.held.release();
        },
        { forAction: true },
      );
    } catch (error) {
      const reason = WorkcellError.isInstance(error) ? error.code : 'internal';
      this.#parts.record({ change: 'skipped', label, reason });
    }
  }

  /** Moves one to a directory that is not there yet, where it outlives this runtime. For workspaces whose base is empty. */
  async moveOut(named: string | Checkpoint, directory: string): Promise<SavedLayer> {
    const kept = this.#list.find(named);
    const { checkpoint, held } = kept;
    await copyLayer(held.layer.path, directory, held.whiteouts);
    this.#list.release(kept);
    return { checkpoint, links: held.layer.links };
  }

  /** The verbs take it by its id, like those of this runtime, until somebody calls what this returns. */
  adopt(kept: Kept): () => void {
    return this.#list.adopt(kept);
  }

  /** What somebody else did with one of them. */
  note(change: CheckpointRecord): void {
    this.#parts.record(change);
  }

  /** `begins`: the cell is new, and begins with it. */
  async rewind(
    named: string | Checkpoint,
    options: Partial<RewindOptions> & KeepingRewind & { readonly begins?: boolean } = {},
  ): Promise<Pick<Rewound, 'changes'> & Partial<Rewound>> {
    const { signal } = options;
    const goal = this.#list.find(named);
    const held = goal.held.hold();
    let now: HeldLayer | undefined;
    try {
      return await this.#stopped(async () => {
        const present =
          options.recovery !== false ? await this.#recovery(goal.checkpoint.id, signal) : undefined;
        if (present !== undefined && options.keeping !== undefined) {
          // Who keeps it elsewhere releases it here.
          now = present.held.hold();
          await options.keeping(present.checkpoint);
        }
        const before =
          present === undefined ? { layer: this.#parts.source.merged } : this.#view(present.held);
        const after = this.#view(held);
        // A checkpoint is within limits, and to write a large file again that is the same costs more than to read it.
        const differences = await compareViews(before, after, { mostBytes: Infinity, signal });
        const links = present === undefined ? [] : present.held.layer.links;
        const apart = await partings(links, held.layer.links, after, differences);
        const { late } = await this.#parts.write(after, [...differences, ...apart], held.layer.links);
        if (late.size > 0) throw notWritten('the workspace', [...late]);
        await this.#parts.places?.restore(held, present?.held);
        this.#list.parent = goal.checkpoint.id;
        const recovery = present?.checkpoint;
        const { id, runtimeId } = goal.checkpoint;
        this.#parts.record(
          options.begins
            ? { change: 'began', id, runtime: runtimeId }
            : { change: 'rewound', id, recovery: recovery?.id },
        );
        this.#list.trim(goal.checkpoint.id, ...(recovery === undefined ? [] : [recovery.id]));
        return { ...(recovery !== undefined && { recovery }), changes: differences.map(describe) };
      }, options);
    } finally {
      now?.release();
      held.release();
    }
  }

  async #recovery(goal: string, signal: AbortSignal | undefined): Promise<Kept> {
    try {
      return await this.#take(`before rewinding to ${goal}`, signal);
    } catch (cause) {
      if (!WorkcellError.isInstance(cause) || cause.code !== 'file-too-large') throw cause;
      const message = `${cause.message} Or rewind with recovery: false, which gives up what is there now.`;
      throw new WorkcellError(cause.code, message, { details: cause.details, cause });
    }
  }

  drop(named: string | Checkpoint): void {
    this.#list.remove(this.#list.find(named));
  }

  /** The caller closes them. */
  async fork<Runtime extends RuntimeLike>({ count = 1, from, ...options }: ForkOptions): Promise<Runtime[]> {
    checkCount(count);
    const { signal } = options;
    const { fork, record } = this.#parts;
    const kept = await this.#hold(from ?? (await this.take('fork', options)));
    const { checkpoint, held } = kept;
    try {
      const started = await Promise.allSettled(Array.from({ length: count }, () => fork(kept, signal)));
      const forks = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      const failed = started.find((result) => result.status === 'rejected');
      if (failed !== undefined) {
        await Promise.all(forks.map((runtime) => runtime.close()));
        throw failed.reason;
      }
      for (const { id } of forks) record({ change: 'forked', id: checkpoint.id, runtime: id });
      return forks as unknown as Runtime[];
    } finally {
      held.release();
    }
  }

  /** Without `before`: what differs from where the workspace began. */
  async diff(
    before: WorkspaceState | undefined,
    after: WorkspaceState,
    options: CheckpointOptions = {},
  ): Promise<WorkspaceChange[]> {
    const { signal } = options;
    const { from, isOwn } = this.#parts;
    const one = before === undefined ? undefined : await this.#hold(before, options);
    const other = await this.#hold(after, options).catch((error: unknown) => {
      one?.held.release();
      throw error;
    });
    try {
      return await withBases(async () => {
        const was = one === undefined ? this.#began(from) : this.#view(one.held);
        const is = this.#view(other.held);
        const all = await compareViews(was, is, { signal });
        return showChanges(was, is, one === undefined ? all.filter(isOwn) : all, signal);
      });
    } finally {
      one?.held.release();
      other.held.release();
    }
  }

  /** Writes what changed since the workspace began to a directory of this machine. */
  async apply(
    directory: string,
    present: WorkspaceState,
    { from: state = present, git = false, ...options }: ApplyOptions,
  ): Promise<TakenOver> {
    const { from: origin, isOwn, record } = this.#parts;
    const target = existing(directory);
    const { checkpoint, held } = await this.#hold(state, options);
    const { leftOut, isWanted } = exceptGit(isOwn);
    try {
      const { states, ...taken } = await writingTo(target, (preserve) => {
        const plan = {
          before: this.#began(origin),
          after: this.#view(held),
          target,
          isOwn: git ? isOwn : isWanted,
          since:
            target === origin
              ? (path: string, stats: Stats | undefined) => this.#changedSince(path, stats)
              : undefined,
        };
        return takeOver(plan, options, async (view, writes) => {
          await preserve(writes);
          return writeChanges(target, view, writes);
        });
      });
      const result = { ...taken, ...(leftOut.size > 0 && { leftOut: [...leftOut] }) };
      if (target === origin) for (const [path, state] of states) this.#applied.set(path, state);
      const { applied, changes, conflicts } = result;
      const counts = { files: changes.length, conflicts: conflicts.length };
      if (applied) record({ change: 'applied', id: checkpoint.id, directory: target, ...counts });
      return result;
    } finally {
      held.release();
    }
  }

  /** Keeps what changed since the workspace began in a directory, beyond the end of this runtime. Returns its id. */
  async keep(place: string, present: WorkspaceState): Promise<string | undefined> {
    const { from, isOwn } = this.#parts;
    if (from === undefined) return undefined;
    const { held } = await this.#hold(present);
    try {
      return await withBases(() =>
        keepChanges(place, {
          directory: from,
          before: { base: from },
          after: this.#view(held),
          isOwn,
          since: (path, stats) => this.#changedSince(path, stats),
        }),
      );
    } finally {
      held.release();
    }
  }

  /** Takes over into this workspace what changed in another since their last common checkpoint. */
  async merge(other: RuntimeLike, options: TakeOverOptions): Promise<TakenOver> {
    const { source, record } = this.#parts;
    const { signal } = options;
    const { checkpoint, held } = await this.#hold(other, options);
    const common = this.#list.common(historyOf(other).#list)?.hold();
    try {
      return await this.#stopped(async () => {
        if (!options.preview) {
          const { checkpoint: own } = await this.#take(`before merging ${checkpoint.runtimeId}`, signal);
          this.#list.trim(own.id);
        }
        const before = common === undefined ? this.#began() : this.#view(common);
        const plan = { before, after: this.#view(held), target: source.merged };
        const { states: _, ...result } = await takeOver(plan, options, (view, writes) =>
          this.#parts.write(view, writes),
        );
        const { applied, changes, conflicts } = result;
        const counts = { files: changes.length, conflicts: conflicts.length };
        if (applied)
          record({ change: 'merged', id: checkpoint.id, runtime: checkpoint.runtimeId, ...counts });
        return result;
      }, options);
    } finally {
      common?.release();
      held.release();
    }
  }

  /** Takes a checkpoint of another runtime over, as the last one that both have. */
  async share({ checkpoint, held }: Kept): Promise<void> {
    this.#list.add({ checkpoint, held: await this.#parts.store.take(held) });
  }

  /** Removes all checkpoints. Those that forks began with stay for them. */
  async close(): Promise<void> {
    this.#list.close();
    this.#last?.release();
    this.#last = undefined;
    await this.#parts.store.close({ keeps: this.#parts.index !== undefined });
  }

  /** Whether somebody else changed or removed an entry of the caller's directory. */
  #changedSince(path: string, stats: Stats | undefined): boolean {
    const own = this.#applied.get(path);
    if (own !== undefined) return own !== stateOf(stats);
    return this.#parts.since(path, stats) || (stats === undefined && this.#covered.has(path));
  }

  /** The caller releases it. */
  async #hold(state: WorkspaceState, options: CheckpointOptions = {}): Promise<Kept> {
    if (typeof state === 'object' && !('createdAt' in state)) return historyOf(state).#present(options);
    const { checkpoint, held } = this.#list.find(state);
    return { checkpoint, held: held.hold() };
  }

  #present(options: CheckpointOptions): Promise<Kept> {
    return this.#stopped(() => this.#capture(undefined, options.signal), options);
  }

  /** Calls `work` while nothing changes the files of the cell, and this program none below. */
  async #stopped<T>(
    work: () => Promise<T>,
    { signal, whileRunning, forAction }: CheckpointOptions & Pick<HoldAs, 'forAction'>,
  ): Promise<T> {
    checkCancelled(signal);
    const how = { forAction, refuses: whileRunning === 'refuse' };
    return this.#parts.hold(async () => {
      checkCancelled(signal);
      return withBases(work);
    }, how);
  }

  async #take(label: string | undefined, signal: AbortSignal | undefined): Promise<Kept> {
    const kept = await this.#capture(label, signal);
    this.#keep(kept);
    return kept;
  }

  /** Returns its id. */
  #keep(kept: Kept): string {
    const { id, label, parent, files, bytes } = kept.checkpoint;
    this.#list.add(kept);
    this.#parts.record({ change: 'created', id, label, parent, files, bytes });
    return id;
  }

  async #differsFromParent(kept: Kept): Promise<boolean> {
    const parent = this.#list.get(this.#list.parent);
    if (parent === undefined) return true;
    if ((await compareViews(this.#view(parent.held), this.#view(kept.held))).length > 0) return true;
    return (await this.#parts.places?.differ(parent.held, kept.held)) === true;
  }

  async #capture(label?: string, signal?: AbortSignal): Promise<Kept> {
    const { store, source, runtimeId, limits } = this.#parts;
    const held = await store.capture(source, this.#last?.layer, { ...limits, signal });
    try {
      await this.#parts.places?.capture(held, this.#last, signal);
    } catch (error) {
      held.release();
      throw error;
    }
    this.#last?.release();
    this.#last = held.hold();
    for (const path of held.layer.covered) this.#covered.add(path);
    const { files, bytes } = held.layer;
    const id = randomBytes(6).toString('hex');
    const { parent } = this.#list;
    return { checkpoint: { id, runtimeId, label, parent, createdAt: new Date(), files, bytes }, held };
  }

  /** What the workspace began with. */
  #began(from = this.#parts.source.base): View {
    return this.#parts.index?.began ?? { base: from };
  }

  #view({ layer }: HeldLayer): View {
    return { layer: layer.path, base: this.#parts.source.base };
  }
}
