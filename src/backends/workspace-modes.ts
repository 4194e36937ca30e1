/** Prepares the directory that a cell works in, by its mode: the caller's own, layers over it, a copy of it, or an empty one. */
import { chmodSync, mkdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { discardTree } from '../base/remove-tree.js';
import { makeScratch } from '../cell/launchers/scratch.js';
import { describeIssues, WorkcellError } from '../protocol/index.js';
import { captureLayer, differsFrom, differsFromCopied } from '../runtime/checkpoints/capture.js';
import type { Difference } from '../runtime/checkpoints/compare.js';
import type { HeldLayer } from '../runtime/checkpoints/layer-store.js';
import { Whiteouts } from '../runtime/checkpoints/whiteouts.js';
import type { Backend, WorkspaceOverlay } from './backend.js';
import { namesBelow } from './names-below.js';
import { openWorkspace } from './workspace.js';

/** How many names of the caller's directory to remember: a start takes as long for a large one as for a small one. */
const knownNames = 4000;

const workspaceSchema = z.strictObject({
  /** A directory of this machine. Needed for all modes but `empty`. */
  from: z.string().min(1).optional(),
  /**
   * `direct`: the cell works in the directory itself. `overlay`: it sees the directory, and what it writes goes elsewhere; where
   * the kernel or the backend has no overlays, a copy. `copy`: it works in a copy. `empty`: in an empty directory.
   */
  mode: z.enum(['direct', 'overlay', 'copy', 'empty']),
  /** How many checkpoints to keep, and how many automatic ones besides; older ones go first. */
  keep: z.int().min(1).max(10_000).default(100),
  /** Makes a checkpoint before each action that may change files, if anything changed since the one before. */
  automatic: z.boolean().default(false),
  /** What one checkpoint may hold, in bytes on the disk and in files: a cell could fill both. */
  maxBytes: z.int().min(1).default(34_359_738_368),
  maxFiles: z.int().min(1).default(500_000),
});

/** Where a cell works, and whether it may change that. */
export type WorkspaceOption = z.input<typeof workspaceSchema>;
export type WorkspaceSpec = z.output<typeof workspaceSchema>;

export interface PreparedWorkspace {
  readonly spec: WorkspaceSpec;
  /** What the backend gets as its `workspace`. */
  readonly path: string;
  readonly overlay?: WorkspaceOverlay | undefined;
  /** The caller's directory, without links. */
  readonly from?: string | undefined;
  /** Below all layers: the caller's directory under an overlay, an empty one under a copy. */
  readonly base: string;
  /** What the cell writes to. */
  readonly upper: string;
  /** The layer that the cell began with. */
  readonly lower?: string | undefined;
  /** For checkpoints; on the file system of the upper layer. A store of layers removes it. */
  readonly layers: string;
  /** Whether the caller changed an entry of their directory since the cell began, or removed it, as far as that shows. */
  since(path: string, stats: Stats | undefined): boolean;
  /** Whether a difference to the caller's directory is a change that the cell made. */
  isOwn(difference: Difference): boolean;
  dispose(): Promise<void>;
}

export function checkWorkspace(given: unknown): WorkspaceSpec {
  const result = workspaceSchema.safeParse(given);
  if (!result.success)
    throw new WorkcellError(
      'invalid-config',
      `The option workspace is not valid: ${describeIssues(result.error)}.`,
      {
        details: { option: 'workspace' },
      },
    );
  const { from, mode } = result.data;
  if ((from === undefined) === (mode === 'empty')) return result.data;
  throw new WorkcellError(
    'invalid-config',
    mode === 'empty'
      ? 'A workspace of mode "empty" begins with nothing. Leave out workspace.from, or use mode "copy".'
      : `A workspace of mode "${mode}" needs workspace.from, a directory of this machine.`,
    { details: { option: 'workspace' } },
  );
}

/** `origin`: the workspace to branch off from, at one of its checkpoints. */
export async function prepareWorkspace(
  spec: WorkspaceSpec,
  backend: Pick<Backend, 'overlays'>,
  origin?: { readonly prepared: PreparedWorkspace; readonly layer: HeldLayer },
): Promise<PreparedWorkspace> {
  const scratch = realpathSync(makeScratch('workspace'));
  // Forks may need them longer than the rest.
  const layers = realpathSync(makeScratch('layers'));
  try {
    return origin === undefined
      ? await begin(spec, backend, scratch, layers)
      : await branch(origin.prepared, origin.layer, scratch, layers);
  } catch (error) {
    await Promise.all([scratch, layers].map((path) => discardTree(path)));
    throw error;
  }
}

async function begin(
  spec: WorkspaceSpec,
  backend: Pick<Backend, 'overlays'>,
  scratch: string,
  layers: string,
): Promise<PreparedWorkspace> {
  const from = spec.from === undefined ? undefined : openWorkspace(spec.from).path;
  if (from !== undefined && isWithin(scratch, from)) throw holdsItself(from);
  const dispose = () => discardTree(scratch);
  const base = from ?? emptyDirectory();
  const overlay = makeOverlay(scratch, [base]);
  // Taken from the file system that stamps the changes, before the cell can have read anything.
  const startedMs = statSync(overlay.merged).ctimeMs;
  const names = from === undefined ? new Set<string>() : namesBelow(from, knownNames);
  if (spec.mode !== 'copy' && (await backend.overlays?.(overlay)))
    return {
      spec,
      path: base,
      overlay,
      from,
      base,
      upper: overlay.upper,
      layers,
      since: (path, stats) => (stats === undefined ? names.has(path) : stats.ctimeMs > startedMs),
      isOwn: () => true,
      dispose,
    };
  const path = join(scratch, 'copy');
  const empty = emptyDirectory();
  const source = { upper: base, base: empty, merged: base, isCallers: true };
  const copied = await captureLayer(source, path, new Whiteouts(layers));
  return {
    spec,
    path,
    from,
    base: empty,
    upper: path,
    layers,
    since: (entry, stats) => differsFrom(copied, entry, stats),
    isOwn: (difference) => differsFromCopied(copied, difference),
    dispose,
  };
}

async function branch(
  { spec, path, from, base, overlay: first, since, isOwn }: PreparedWorkspace,
  layer: HeldLayer,
  scratch: string,
  layers: string,
): Promise<PreparedWorkspace> {
  const common = { spec, from, base, layers, since, isOwn };
  if (first !== undefined) {
    const lower = await layer.mount(base);
    const overlay = makeOverlay(scratch, [lower, base]);
    layer.hold();
    return {
      ...common,
      path,
      overlay,
      upper: overlay.upper,
      lower,
      dispose: async () => {
        layer.release();
        await discardTree(scratch);
      },
    };
  }
  const copy = join(scratch, 'copy');
  const source = { upper: layer.layer.path, base, merged: layer.layer.path };
  await captureLayer(source, copy, new Whiteouts(layers));
  return { ...common, path: copy, upper: copy, dispose: () => discardTree(scratch) };
}

function makeOverlay(scratch: string, lower: readonly string[]): WorkspaceOverlay {
  const [upper, work, merged] = ['upper', 'work', 'merged'].map((name) => {
    const path = join(scratch, name);
    mkdirSync(path);
    return path;
  }) as [string, string, string];
  // The directory that the cell sees has the mode of the upper one.
  chmodSync(upper, statSync(lower[0] as string).mode & 0o7777);
  return { lower, upper, work, merged };
}

let empty: string | undefined;

/** One for all, so that those who begin with it share their base. */
function emptyDirectory(): string {
  empty ??= realpathSync(makeScratch('empty'));
  return empty;
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === '/' ? '/' : `${resolve(directory)}/`);
}

function holdsItself(from: string): WorkcellError {
  return new WorkcellError(
    'invalid-config',
    `The workspace ${from} holds the directory for temporary files. Name a directory below it, or set TMPDIR to another place.`,
    { details: { workspace: from } },
  );
}
