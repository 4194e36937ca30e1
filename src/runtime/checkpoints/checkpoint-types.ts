/** What the verbs of checkpoints take and answer. */
import type { Conflict } from './plan-changes.js';
import type { WorkspaceChange } from './show-changes.js';

/** The files of a workspace at one moment. Processes are not part of it. */
export interface Checkpoint {
  readonly id: string;
  /** Of the runtime that made it. */
  readonly runtimeId: string;
  readonly label?: string | undefined;
  /** The checkpoint before it in its line. */
  readonly parent?: string | undefined;
  readonly createdAt: Date;
  /** What differs from where the workspace began: files, and bytes in them. */
  readonly files: number;
  readonly bytes: number;
}

/** For all verbs of checkpoints. */
export interface CheckpointOptions {
  /** Cancels it, with `cancelled`, until it begins to write; what it began to write, it finishes. */
  readonly signal?: AbortSignal | undefined;
  /**
   * While commands or processes of the cell run: `hold` stops them for the moment, where the backend can, `refuse` fails with
   * `session-busy`. Default: `hold`.
   */
  readonly whileRunning?: 'hold' | 'refuse' | undefined;
}

/** How to take over changes where others made theirs. */
export interface TakeOverOptions extends CheckpointOptions {
  /** Only says what would happen. */
  readonly preview?: boolean | undefined;
  /**
   * What to do when the directory has changes of its own in the same files. `stop`: write nothing. `skip`: write the others.
   * `overwrite`: write all. Default: `stop`.
   */
  readonly onConflict?: 'stop' | 'skip' | 'overwrite' | undefined;
}

/** The changes that it wrote, or would write. */
export interface TakenOver {
  /** False for a preview, and when conflicts stopped it. */
  readonly applied: boolean;
  readonly changes: readonly WorkspaceChange[];
  readonly conflicts: readonly Conflict[];
  /** The git directories in which something changed that `apply` left alone. */
  readonly leftOut?: readonly string[] | undefined;
}

/** To go back without a checkpoint of what is there now, which may be more than one may hold. */
export interface RewindOptions extends CheckpointOptions {
  readonly recovery: false;
}

/** For who keeps the checkpoints of others. */
export interface KeepingRewind extends CheckpointOptions {
  /** Called with what is there now before any file changes; where it fails, none does. */
  readonly keeping?: ((recovery: Checkpoint) => Promise<void>) | undefined;
}

/** What going back did. */
export interface Rewound {
  /** Keeps what was there before; go back to it to undo the rewind. */
  readonly recovery: Checkpoint;
  readonly changes: readonly WorkspaceChange[];
}

/** A checkpoint, or a runtime as it is now. */
export type WorkspaceState = string | Checkpoint | RuntimeLike;

export interface RuntimeLike {
  readonly id: string;
  readonly backend: string;
}

/** What to take over, and how. */
export interface ApplyOptions extends TakeOverOptions {
  /** Default: this runtime as it is now. */
  readonly from?: WorkspaceState | undefined;
  /** Also writes what changed in `.git`: index, branches, and hooks and settings that your git runs. Default: false. */
  readonly git?: boolean | undefined;
}

/** How many forks to start, and from where. */
export interface ForkOptions extends CheckpointOptions {
  /** How many. Default: 1. */
  readonly count?: number | undefined;
  /** Default: the files as they are now. */
  readonly from?: string | Checkpoint | undefined;
}
