/** The checkpoints that a runtime has: which there are, which one its line is at, and which go. */
import { type CheckpointRecord, WorkcellError } from '../../protocol/index.js';
import type { CaptureLimits } from './capture.js';
import type { Checkpoint } from './checkpoint-types.js';
import type { KeptIndex } from './kept-index.js';
import type { HeldLayer } from './layer-store.js';
import { surplus } from './surplus.js';

/** A checkpoint with its files. */
export interface Kept {
  readonly checkpoint: Checkpoint;
  readonly held: HeldLayer;
  /** Made before an action, not on demand. */
  readonly isAutomatic?: boolean | undefined;
}

export interface ListParts {
  readonly keep: number;
  readonly limits: CaptureLimits;
  /** For a cell that outlives this runtime: its checkpoints of earlier times, and where to say which it has. */
  readonly index?: KeptIndex | undefined;
  record(change: CheckpointRecord): void;
}

export class CheckpointList {
  readonly #parts: ListParts;
  readonly #kept = new Map<string, Kept>();
  /** Those that outlive their runtimes, while somebody needs them here. */
  readonly #adopted = new Set<Kept>();
  #parent: string | undefined;

  constructor(parts: ListParts) {
    this.#parts = parts;
    for (const kept of parts.index?.kept ?? []) this.#kept.set(kept.checkpoint.id, kept);
    this.#parent = parts.index?.parent;
  }

  get all(): Checkpoint[] {
    return [...this.#kept.values()].map(({ checkpoint }) => checkpoint);
  }

  /** The one that the next follows. */
  get parent(): string | undefined {
    return this.#parent;
  }

  set parent(id: string) {
    this.#parent = id;
    this.#write();
  }

  get(id: string | undefined): Kept | undefined {
    return this.#kept.get(id ?? '');
  }

  find(named: string | Checkpoint): Kept {
    const id = typeof named === 'string' ? named : named.id;
    const kept = this.#kept.get(id) ?? [...this.#adopted].find(({ checkpoint }) => checkpoint.id === id);
    if (kept !== undefined) return kept;
    throw new WorkcellError(
      'not-found',
      `There is no checkpoint ${JSON.stringify(id)}; runtime.checkpoints() lists those that are kept.`,
      { details: { id } },
    );
  }

  /** The newest that another list has, too. */
  common(other: CheckpointList): HeldLayer | undefined {
    const shared = [...this.#kept.keys()].filter((id) => other.#kept.has(id));
    return this.get(shared.at(-1))?.held;
  }

  /** From here on the line is at this one. */
  add(kept: Kept): void {
    this.#kept.set(kept.checkpoint.id, kept);
    this.parent = kept.checkpoint.id;
  }

  adopt(kept: Kept): () => void {
    this.#adopted.add(kept);
    return () => void this.#adopted.delete(kept);
  }

  /** The index forgets it before its files go. Nothing happens to those that are not of this list. */
  release({ checkpoint, held }: Kept): void {
    if (!this.#kept.delete(checkpoint.id)) return;
    this.#write();
    held.release();
  }

  remove(kept: Kept): void {
    this.release(kept);
    this.#parts.record({ change: 'removed', id: kept.checkpoint.id });
  }

  /** Removes the oldest of those that are too many. */
  trim(...current: string[]): void {
    const { keep, limits } = this.#parts;
    const bounds = { keep, maxBytes: limits.maxBytes };
    for (const id of surplus([...this.#kept.values()], bounds, current)) this.remove(this.find(id));
  }

  /** Lets go of all. Those of an index stay for the next runtime of their cell. */
  close(): void {
    if (this.#parts.index === undefined) for (const { held } of this.#kept.values()) held.release();
    this.#kept.clear();
  }

  #write(): void {
    this.#parts.index?.write([...this.#kept.values()], this.#parent);
  }
}
