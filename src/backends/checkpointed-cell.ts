/** Joins a cell with the workspace that was prepared for it, so that its files can be captured while it runs. */
import { type Cell, type CheckpointRecord, WorkcellError } from '../protocol/index.js';
import { holdable } from '../runtime/checkpoints/hold.js';
import { LayerStore } from '../runtime/checkpoints/layer-store.js';
import {
  type Kept,
  RuntimeCheckpoints,
  type WorkspaceParts,
} from '../runtime/checkpoints/runtime-checkpoints.js';
import type { Backend, StartContext } from './backend.js';
import { type PreparedWorkspace, prepareWorkspace, type WorkspaceSpec } from './workspace-modes.js';

export { checkWorkspace } from './workspace-modes.js';

export type WorkspaceFiles = PreparedWorkspace;

export interface StartedCell {
  readonly cell: Cell;
  /** `fork` starts another runtime with the files of a checkpoint; `origin` is the one that this cell began with. */
  history?(events: Recorder, fork: Fork, origin?: Kept): RuntimeCheckpoints;
}

type Fork = (kept: Kept, files: WorkspaceFiles) => ReturnType<WorkspaceParts['fork']>;

interface Recorder {
  append(event: RecordedCheckpoint, source: 'user'): unknown;
}

interface RecordedCheckpoint {
  readonly kind: 'checkpoint';
  readonly checkpoint: CheckpointRecord;
}

interface Origin {
  readonly files: WorkspaceFiles;
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
  checkTakes(backend, options);
  // The executor of a keeper is in another process, which takes a directory and nothing else.
  const takes = options.keeper === undefined || options.keeper === false ? backend : {};
  const from = origin && { prepared: origin.files, layer: origin.kept.held };
  const files = await prepareWorkspace(spec, takes, from);
  const store = new LayerStore(files.layers);
  let started: Cell;
  try {
    started = await backend.start(
      { ...options, workspace: files.path },
      { ...context, overlay: files.overlay },
    );
  } catch (error) {
    await store.close();
    await files.dispose();
    throw error;
  }
  const { cell, hold } = holdable(started);
  const { upper, lower, base, since, isOwn } = files;
  const merged = started.workspaceRoot ?? files.path;
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
      history = new RuntimeCheckpoints({
        runtimeId: context.id,
        source: { upper, lower: lower?.layer.path, base, merged },
        from: files.from,
        since,
        isOwn,
        store,
        keep: spec.keep,
        limits: { maxBytes: spec.maxBytes, maxFiles: spec.maxFiles },
        origin,
        fork: (kept) => fork(kept, files),
        hold,
        record: (checkpoint) => events.append({ kind: 'checkpoint', checkpoint }, 'user'),
      });
      return history;
    },
  };
}

function checkTakes({ type, options }: Backend, { keepAlive }: Readonly<Record<string, unknown>>): void {
  if (Object.hasOwn(options.shape, 'workspace') && keepAlive !== true) return;
  throw new WorkcellError(
    'capability-unsupported',
    keepAlive === true
      ? `A cell that is kept alive works in a directory itself. Leave out keepAlive, or use workspace mode "direct".`
      : `Backend "${type}" does not work in a directory of this machine, so it has no workspace modes. Leave out workspace, or use another backend.`,
    { details: { backend: type, capability: 'workspace' } },
  );
}
