/** Checkpoints of cells that outlive their owner: of the workspace that is a cell's own, whoever works in it now. */
import { mkdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openOwnDirectory } from '../base/own-directory.js';
import { discardTree } from '../base/remove-tree.js';
import { stateDirectory } from '../base/user-directories.js';
import { listPids } from '../cell/launchers/process-table.js';
import { makeScratch } from '../cell/launchers/scratch.js';
import { writtenMaps } from '../cell/launchers/written-maps.js';
import { type Cell, WorkcellError } from '../protocol/index.js';
import { type CaptureLimits, type CaptureSource, captureLayer } from '../runtime/checkpoints/capture.js';
import { CellFiles, notEmpty } from '../runtime/checkpoints/cell-files.js';
import type { Kept } from '../runtime/checkpoints/checkpoint-list.js';
import { compareViews } from '../runtime/checkpoints/compare.js';
import { joinNames, type Links } from '../runtime/checkpoints/hard-links.js';
import { holdable } from '../runtime/checkpoints/hold.js';
import { beganIn, beginIndex, KeptIndex, type KeptSettings } from '../runtime/checkpoints/kept-index.js';
import { textOf } from '../runtime/checkpoints/layer-folder.js';
import { copyLayer } from '../runtime/checkpoints/layer-store.js';
import { RuntimeCheckpoints, type WorkspaceParts } from '../runtime/checkpoints/runtime-checkpoints.js';
import { Whiteouts } from '../runtime/checkpoints/whiteouts.js';
import type { View } from '../runtime/checkpoints/workspace-view.js';
import { notWritten, writeChanges } from '../runtime/checkpoints/write-changes.js';
import type { Backend, StartContext } from './backend.js';
import type { Fork, Recorder } from './checkpointed-cell.js';
import { sweepKept } from './sweep-kept.js';
import { openWorkspace } from './workspace.js';
import { emptyDirectory, type WorkspaceSpec } from './workspace-modes.js';

export interface KeptCell {
  readonly cell: Cell;
  history?(events: Recorder, fork?: Fork): () => RuntimeCheckpoints;
}

/** Unless somebody chose others. */
const usual: KeptSettings = { keep: 100, maxBytes: 34_359_738_368, maxFiles: 500_000 };

/**
 * A cell that is kept, with the files that its workspace is to begin with: those of a directory of the caller, or of a checkpoint
 * of another such cell.
 */
export async function startKept(
  backend: Backend,
  spec: WorkspaceSpec,
  { workspace: _, ...options }: Readonly<Record<string, unknown>>,
  context: StartContext,
  origin?: Kept,
): Promise<KeptCell> {
  checkSpec(backend, spec);
  const { keep, maxBytes, maxFiles } = spec;
  const from = spec.from === undefined ? undefined : openWorkspace(spec.from).path;
  const settings = { from, keep, maxBytes, maxFiles };
  const cell = await backend.start(options, context);
  const directory = directoryOf(cell.id);
  try {
    mkdirSync(directory, { mode: 0o700 });
    if (from !== undefined) await copyBeginning(from, directory, settings, origin);
    beginIndex(directory, settings);
    const index = KeptIndex.open(directory, settings);
    if (origin !== undefined) {
      const { checkpoint } = origin;
      index.write([{ checkpoint, held: await index.store.take(origin.held) }], checkpoint.id);
    }
    const first = origin === undefined ? index.began : { layer: origin.held.layer.path };
    if (first !== undefined) await fill(cell, first, settings, origin?.held.layer.links);
  } catch (error) {
    await cell.stop();
    await discardTree(directory);
    throw error;
  }
  const kept = withCheckpoints(cell, { forks: true });
  return {
    ...kept,
    history(events, fork) {
      if (origin !== undefined) {
        const { id, runtimeId } = origin.checkpoint;
        events.append(
          { kind: 'checkpoint', checkpoint: { change: 'began', id, runtime: runtimeId } },
          'user',
        );
      }
      return kept.history(events, fork);
    },
  };
}

/** Nothing is made or read before the first checkpoint. `forks`: others can start with the same options. */
export function withCheckpoints(
  started: Cell,
  { forks = false }: { readonly forks?: boolean } = {},
): Required<KeptCell> {
  const isMirrored = started.workspaceRoot === undefined;
  const { cell, hold } = holdable(started, { isMirrored });
  let made: { history: RuntimeCheckpoints; files: Files } | undefined;
  const leave = async () => {
    await made?.history.close();
    await made?.files.dispose();
  };
  const { detach } = cell;
  return {
    cell: {
      ...cell,
      async stop() {
        await cell.stop();
        await leave();
        await discardTree(directoryOf(cell.id));
      },
      ...(detach !== undefined && {
        async detach() {
          await detach.call(started);
          await leave();
        },
      }),
    },
    history: (events, fork) => () => {
      made ??= open(started, { hold, events, fork: forks ? fork : undefined });
      return made.history;
    },
  };
}

function open(
  cell: Cell,
  {
    hold,
    events,
    fork,
  }: Pick<WorkspaceParts, 'hold'> & { readonly events: Recorder; readonly fork: Fork | undefined },
): { history: RuntimeCheckpoints; files: Files } {
  const directory = directoryOf(cell.id);
  void sweepKept(dirname(directory));
  const index = KeptIndex.open(directory, usual);
  const { keep, maxBytes, maxFiles } = index.settings;
  const limits = { maxBytes, maxFiles };
  const files = filesOf(cell, limits);
  const { path, mapped, write } = files;
  const history = new RuntimeCheckpoints({
    runtimeId: cell.id,
    source: { upper: path, base: emptyDirectory(), merged: path, mapped },
    since: () => true,
    isOwn: () => true,
    store: index.store,
    index,
    keep,
    limits,
    fork: async (kept, signal) => {
      if (fork === undefined) throw noForks(cell);
      return fork(kept, undefined, signal);
    },
    write,
    hold: (work, options) =>
      hold(async () => {
        await files.pull();
        return work();
      }, options),
    record: (checkpoint) => events.append({ kind: 'checkpoint', checkpoint }, 'user'),
  });
  return { history, files };
}

/** How this side reaches the files of a cell: in its directory on this machine, or in a copy of them. */
interface Files extends Pick<WorkspaceParts, 'write'> {
  readonly path: string;
  readonly mapped: CaptureSource['mapped'];
  /** Brings a copy up to what the cell has now. */
  pull(): Promise<unknown>;
  dispose(): Promise<void>;
}

function filesOf(cell: Cell, limits: CaptureLimits): Files {
  const { workspaceRoot: root } = cell;
  if (root !== undefined)
    return {
      path: root,
      mapped: () => writtenMaps(listPids()),
      async write(view, writes, links = []) {
        const written = await writeChanges(root, view, writes);
        await joinNames(root, links);
        return written;
      },
      pull: async () => {},
      dispose: async () => {},
    };
  const scratch = realpathSync(makeScratch('mirror'));
  const path = join(scratch, 'mirror');
  mkdirSync(path, { mode: 0o700 });
  const mirror = new CellFiles({ cell, mirror: path, base: emptyDirectory(), scratch, limits });
  return {
    path,
    mapped: undefined,
    // Names of one file do not travel: they become files of their own there.
    write: (view, writes) => mirror.write(view, writes),
    pull: () => mirror.pull(),
    dispose: () => discardTree(scratch),
  };
}

/** What apply and diff compare with: the caller's directory as it was at the beginning. A fork has that of its origin. */
async function copyBeginning(
  from: string,
  directory: string,
  limits: CaptureLimits,
  origin: Kept | undefined,
): Promise<void> {
  const whiteouts = new Whiteouts(directory);
  const to = beganIn(directory);
  if (origin !== undefined)
    return copyLayer(beganIn(directoryOf(origin.checkpoint.runtimeId)), to, whiteouts);
  const source = { upper: from, base: emptyDirectory(), merged: from, isCallers: true };
  await captureLayer(source, to, whiteouts, undefined, limits);
}

/** Fills the workspace of a new cell, which must be empty: what is there could belong to somebody else. */
async function fill(cell: Cell, view: View, limits: CaptureLimits, links?: Links): Promise<void> {
  const files = filesOf(cell, limits);
  try {
    await files.pull();
    const empty = { base: emptyDirectory() };
    const [first] = await compareViews(empty, { layer: files.path });
    if (first !== undefined) throw notEmpty(cell, textOf(first.path));
    const differences = await compareViews(empty, view);
    const { late } = await files.write(view, differences, links);
    if (late.size > 0) throw notWritten('the workspace', [...late]);
  } finally {
    await files.dispose();
  }
}

/** Of one cell, for this user alone. */
function directoryOf(id: string): string {
  return join(openOwnDirectory(join(stateDirectory(), 'checkpoints')).path, id);
}

function checkSpec({ type }: Backend, { size, also, automatic }: WorkspaceSpec): void {
  const given = { size: size !== undefined, also: also.length > 0, automatic };
  const [name] = Object.entries(given).find(([, isGiven]) => isGiven) ?? [];
  if (name === undefined) return;
  throw new WorkcellError(
    'capability-unsupported',
    `A cell that is kept alive does not take workspace.${name}, which ends with the program that started it. Leave it out, or keepAlive.`,
    { details: { backend: type, capability: `workspace.${name}` } },
  );
}

function noForks({ backend }: Cell): WorkcellError {
  return new WorkcellError(
    'capability-unsupported',
    'The options that this cell started with are not known here, so it has no forks. Fork it in the program that starts it with a workspace by its mode, or through a service.',
    { details: { backend, capability: 'fork' } },
  );
}
