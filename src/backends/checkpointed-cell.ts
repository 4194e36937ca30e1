/** Joins a cell with the workspace that was prepared for it, so that its files can be captured while it runs. */
import type { z } from 'zod';
import { listPids } from '../cell/launchers/process-table.js';
import { writtenMaps } from '../cell/launchers/written-maps.js';
import { type Cell, type CheckpointRecord, WorkcellError } from '../protocol/index.js';
import { CellFiles } from '../runtime/checkpoints/cell-files.js';
import type { Kept } from '../runtime/checkpoints/checkpoint-list.js';
import type { Difference } from '../runtime/checkpoints/compare.js';
import { joinNames } from '../runtime/checkpoints/hard-links.js';
import { holdable } from '../runtime/checkpoints/hold.js';
import { LayerStore } from '../runtime/checkpoints/layer-store.js';
import { OtherPlaces, type OtherPlacesParts } from '../runtime/checkpoints/other-places.js';
import { RuntimeCheckpoints, type WorkspaceParts } from '../runtime/checkpoints/runtime-checkpoints.js';
import { withBases } from '../runtime/checkpoints/shared-base.js';
import { writeChanges } from '../runtime/checkpoints/write-changes.js';
import type { Backend, StartContext } from './backend.js';
import { type PreparedWorkspace, prepareWorkspace, type WorkspaceSpec } from './workspace-modes.js';

export { checkWorkspace } from './workspace-modes.js';

export type WorkspaceFiles = PreparedWorkspace;

export interface StartedCell {
  readonly cell: Cell;
  /** `fork` starts another runtime with the files of a checkpoint; `origin` is the one that this cell began with. */
  history?(events: Recorder, fork: Fork, origin?: Kept): () => RuntimeCheckpoints;
}

/** `files`: of the workspace to branch off from; those of a kept cell are in its checkpoints. */
export type Fork = (
  kept: Kept,
  files: WorkspaceFiles | undefined,
  signal?: AbortSignal,
) => ReturnType<WorkspaceParts['fork']>;

export interface Recorder {
  append(event: RecordedCheckpoint, source: 'user'): unknown;
}

interface RecordedCheckpoint {
  readonly kind: 'checkpoint';
  readonly checkpoint: CheckpointRecord;
}

export interface Origin {
  readonly files: WorkspaceFiles | undefined;
  readonly kept: Kept;
}

/** `origin`: the workspace to branch off from. What was prepared goes with the cell, and also when that does not start. */
export async function startCheckpointed(
  backend: Backend,
  spec: WorkspaceSpec,
  options: Readonly<Record<string, unknown>>,
  context: StartContext,
  origin?: Origin,
): Promise<StartedCell> {
  if (options.keepAlive === true) {
    const { startKept } = await import('./kept-checkpoints.js');
    return startKept(backend, spec, options, context, origin?.kept);
  }
  const isMirrored = !takesDirectory(backend);
  if (origin !== undefined && backend.sharesWorkspace) throw sharedBy(backend.type);
  // The executor of a keeper is in another process, which takes a directory and nothing else.
  const isKept = options.keeper !== undefined && options.keeper !== false;
  const takes = isKept ? { type: backend.type } : backend;
  const from = origin?.files && { prepared: origin.files, layer: origin.kept.held };
  const files = await withBases(() => prepareWorkspace(spec, takes, from));
  const store = new LayerStore(files.layers);
  const limits = { maxBytes: spec.maxBytes, maxFiles: spec.maxFiles };
  const { workspace: _, ...others } = options;
  let started: Cell | undefined;
  let mirror: CellFiles | undefined;
  let places: OtherPlaces | undefined;
  try {
    started = await backend.start(
      { ...others, ...(!isMirrored && { workspace: files.path }) },
      { ...context, overlay: files.overlay },
    );
    if (isMirrored) {
      const { path, base, layers } = files;
      mirror = new CellFiles({ cell: started, mirror: path, base, scratch: layers, limits });
      await mirror.begin();
    }
    places = otherPlaces(started, spec, { store, scratch: files.layers, limits });
    if (origin !== undefined) await places?.restore(origin.kept.held);
  } catch (error) {
    await started?.stop();
    await store.close();
    await files.dispose();
    throw error;
  }
  const beforeChange = spec.automatic ? async (action: string) => history?.takeBefore(action) : undefined;
  const { cell, hold } = holdable(started, { isMirrored, beforeChange });
  const { lower, base, since, isOwn } = files;
  const upper = started.workspaceUpper ?? files.upper;
  const merged = started.workspaceRoot ?? files.path;
  const processes = started.processes ?? listPids;
  let history: RuntimeCheckpoints | undefined;
  let stopping: Promise<void> | undefined;
  return {
    cell: {
      ...cell,
      stop() {
        stopping ??= (async () => {
          await cell.stop();
          await (history ?? store).close();
          await files.dispose();
        })();
        return stopping;
      },
    },
    history(events, fork, origin) {
      const made = new RuntimeCheckpoints({
        runtimeId: context.id,
        source: {
          upper,
          lower,
          base,
          merged,
          mapped: isMirrored ? undefined : () => writtenMaps(processes()),
        },
        from: files.from,
        since,
        isOwn: (difference) => isOwn(difference) && !(isMirrored && isLost(difference)),
        store,
        places,
        keep: spec.keep,
        limits,
        origin,
        fork: (kept, signal) => fork(kept, files, signal),
        async write(view, writes, links = []) {
          // Names of one file do not travel: they become files of their own there.
          if (mirror !== undefined) return mirror.write(view, writes);
          const written = await writeChanges(merged, view, writes);
          await joinNames(merged, links);
          return written;
        },
        hold: (work, options) =>
          hold(async () => {
            await mirror?.pull();
            return work();
          }, options),
        record: (checkpoint) => events.append({ kind: 'checkpoint', checkpoint }, 'user'),
      });
      history = made;
      return () => made;
    },
  };
}

function otherPlaces(
  { backend, otherPlaces: at, processes = listPids }: Cell,
  { also }: WorkspaceSpec,
  parts: Omit<OtherPlacesParts, 'paths' | 'mapped'>,
): OtherPlaces | undefined {
  if (also.length === 0) return undefined;
  if (at !== undefined) {
    const paths = new Map(also.map((name) => [name, at[name]]));
    return new OtherPlaces({ ...parts, paths, mapped: () => writtenMaps(processes()) });
  }
  throw new WorkcellError(
    'capability-unsupported',
    `Nobody reaches the home directory and the temporary files of a ${backend} cell from outside. Leave out workspace.also, or use backend "sandbox" without a keeper.`,
    { details: { backend, capability: 'workspace.also' } },
  );
}

/** Pipes and sockets do not travel, so a cell elsewhere that lacks one has not removed it. */
function isLost({ change, before }: Difference): boolean {
  return change === 'removed' && before?.kind === 'special';
}

/** Whether its cells work in a directory of this machine. Others get their files through the executor. */
function takesDirectory({ options }: Backend): boolean {
  const { workspace } = options.shape as Record<string, z.ZodType | undefined>;
  return workspace?.safeParse('/').success === true;
}

function sharedBy(backend: string): WorkcellError {
  return new WorkcellError(
    'capability-unsupported',
    `All runtimes of backend "${backend}" work in the workspace of one server, so it has no forks. Use another backend, or a server for each.`,
    { details: { backend, capability: 'fork' } },
  );
}
