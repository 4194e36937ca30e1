/** Checkpoints that outlive the runtimes that made them, for who keeps the cells of others. */
import { join } from 'node:path';
import type { Checkpoint, RuntimeLike } from '../runtime/checkpoints/checkpoint-types.js';
import { historyOf } from '../runtime/checkpoints/runtime-history.js';
import { openSaved } from '../runtime/checkpoints/saved-layer.js';
import { readLinks, writeLinks } from '../runtime/checkpoints/saved-links.js';

export type { KeepingRewind } from '../runtime/checkpoints/checkpoint-types.js';

/** Moves a checkpoint of a runtime to a directory, which must be there and empty. */
export async function saveCheckpoint(
  runtime: RuntimeLike,
  checkpoint: Checkpoint,
  directory: string,
): Promise<void> {
  const { links } = await historyOf(runtime).moveOut(checkpoint, join(directory, 'layer'));
  writeLinks(directory, links);
}

/** A checkpoint in a directory. */
export interface SavedCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly directory: string;
}

/** Calls `work` while the verbs of a runtime take these checkpoints. */
export async function withSaved<T>(
  runtime: RuntimeLike,
  saved: readonly SavedCheckpoint[],
  work: () => Promise<T>,
): Promise<T> {
  const history = historyOf(runtime);
  const releases = saved.map(({ checkpoint, directory }) =>
    history.adopt(openSaved({ checkpoint, links: readLinks(directory) }, join(directory, 'layer'))),
  );
  try {
    return await work();
  } finally {
    for (const release of releases) release();
  }
}

/** Gives a new cell the files of a checkpoint. */
export async function beginWith(
  runtime: RuntimeLike,
  saved: SavedCheckpoint,
  signal: AbortSignal,
): Promise<void> {
  const { id } = saved.checkpoint;
  await withSaved(runtime, [saved], () =>
    historyOf(runtime).rewind(id, { recovery: false, begins: true, signal }),
  );
}

/** Writes down that a checkpoint of this runtime is what another one began with. */
export function noteFork(runtime: RuntimeLike, checkpoint: string, other: string): void {
  historyOf(runtime).note({ change: 'forked', id: checkpoint, runtime: other });
}
