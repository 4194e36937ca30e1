/** Checkpoints of cells that outlive their owner: of the workspace that is a cell's own, whoever works in it now. */
import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { listPids } from '../cell/launchers/process-table.js';
import { makeScratch } from '../cell/launchers/scratch.js';
import { writtenMaps } from '../cell/launchers/written-maps.js';
import { type Cell, WorkcellError } from '../protocol/index.js';
import { CellFiles } from '../runtime/checkpoints/cell-files.js';
import { joinNames } from '../runtime/checkpoints/hard-links.js';
import { holdable } from '../runtime/checkpoints/hold.js';
import { LayerStore } from '../runtime/checkpoints/layer-store.js';
import { RuntimeCheckpoints } from '../runtime/checkpoints/runtime-checkpoints.js';
import { writeChanges } from '../runtime/checkpoints/write-changes.js';
import type { Recorder } from './checkpointed-cell.js';
import { emptyDirectory } from './workspace-modes.js';

/** How many to keep, and what one may hold. */
const keep = 100;
const limits = { maxBytes: 34_359_738_368, maxFiles: 500_000 };

export interface KeptCell {
  readonly cell: Cell;
  history?(events: Recorder): () => RuntimeCheckpoints;
}

/** Nothing is made or read before the first checkpoint. */
export function withCheckpoints(started: Cell): KeptCell {
  const { workspaceRoot: root } = started;
  const isMirrored = root === undefined;
  const { cell, hold } = holdable(started, { isMirrored });
  let made: RuntimeCheckpoints | undefined;
  const closing = async (end: () => Promise<void>) => {
    await end();
    await made?.close();
  };
  const { detach } = cell;
  return {
    cell: {
      ...cell,
      stop: () => closing(() => cell.stop()),
      ...(detach !== undefined && { detach: () => closing(() => detach.call(started)) }),
    },
    history: (events) => () => {
      made ??= make({ started, hold, events });
      return made;
    },
  };
}

function make({
  started,
  hold,
  events,
}: Pick<ReturnType<typeof holdable>, 'hold'> & {
  readonly started: Cell;
  readonly events: Recorder;
}): RuntimeCheckpoints {
  const { workspaceRoot: root, id, backend } = started;
  const scratch = realpathSync(makeScratch('layers'));
  const base = emptyDirectory();
  const path = root ?? join(scratch, 'mirror');
  if (root === undefined) mkdirSync(path, { mode: 0o700 });
  const mirror =
    root === undefined ? new CellFiles({ cell: started, mirror: path, base, scratch, limits }) : undefined;
  return new RuntimeCheckpoints({
    runtimeId: id,
    source: {
      upper: path,
      base,
      merged: path,
      mapped: mirror === undefined ? () => writtenMaps(listPids()) : undefined,
    },
    since: () => true,
    isOwn: () => true,
    store: new LayerStore(scratch),
    keep,
    limits,
    fork: () => Promise.reject(noForks(backend)),
    async write(view, writes, links = []) {
      if (mirror !== undefined) return mirror.write(view, writes);
      const written = await writeChanges(path, view, writes);
      await joinNames(path, links);
      return written;
    },
    hold: (work, options) =>
      hold(async () => {
        await mirror?.pull();
        return work();
      }, options),
    record: (checkpoint) => events.append({ kind: 'checkpoint', checkpoint }, 'user'),
  });
}

function noForks(backend: string): WorkcellError {
  return new WorkcellError(
    'capability-unsupported',
    'A cell that is kept alive has no forks of its own. Make a checkpoint and start other cells with it through a service, or leave out keepAlive.',
    { details: { backend, capability: 'fork' } },
  );
}
