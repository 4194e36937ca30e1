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
  /**
   * What checkpoints also hold: the home directory of the cell, its temporary files. Going back and forks take them along;
   * comparing, merging and applying are for the workspace alone.
   */
  also: z.array(z.enum(['home', 'tmp'])).default([]),
  /**
   * What the cell may write there, in bytes and in names; it is in memory, and counts for the memory of the cell. A backend that
   * cannot hold it to that starts no cell. Default for `files`: one for each 4 KiB.
   */
  size: z.strictObject({ bytes: z.int().min(65_536), files: z.int().min(16).optional() }).optional(),
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
  /** Present for a base that is ours: forks need it, too. */
  readonly ownBase?: Shared | undefined;
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
  const { from, mode, size } = result.data;
  if (mode === 'direct' && size !== undefined)
    throw new WorkcellError(
      'invalid-config',
      'A workspace of mode "direct" is your own directory, which workspace.size cannot limit. Use another mode, or leave it out.',
      { details: { option: 'workspace' } },
    );
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
  backend: Pick<Backend, 'overlays' | 'type'>,
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
  backend: Pick<Backend, 'overlays' | 'type'>,
  scratch: string,
  layers: string,
): Promise<PreparedWorkspace> {
  const from = spec.from === undefined ? undefined : openWorkspace(spec.from).path;
  if (from !== undefined && isWithin(scratch, from)) throw holdsItself(from);
  const dispose = () => discardTree(scratch);
  const base = from ?? emptyDirectory();
  const overlay = makeOverlay(scratch, [base], spec.size);
  const canOverlay = async () => (await backend.overlays?.(overlay)) === true;
  if (spec.size !== undefined && !(await canOverlay())) throw notLimited(backend.type);
  // Taken from the file system that stamps the changes, before the cell can have read anything.
  const startedMs = statSync(overlay.merged).ctimeMs;
  const names = from === undefined ? new Set<string>() : namesBelow(from, knownNames);
  if (spec.mode !== 'copy' && (await canOverlay()))
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
  const own = new Shared(makeScratch('copy'));
  const path = join(own.path, 'copy');
  const empty = emptyDirectory();
  const source = { upper: base, base: empty, merged: base, isCallers: true };
  const copied = await captureLayer(source, path, new Whiteouts(layers)).catch(async (error: unknown) => {
    await own.release();
    throw error;
  });
  const isLimited = spec.size !== undefined;
  return {
    spec,
    path,
    // The copy lies below a layer that holds no more than it may.
    ...(isLimited && { overlay: { ...overlay, lower: [path] }, ownBase: own }),
    from,
    base: isLimited ? path : empty,
    upper: isLimited ? overlay.upper : path,
    layers,
    since: (entry, stats) => differsFrom(copied, entry, stats),
    isOwn: (difference) => differsFromCopied(copied, difference),
    dispose: async () => {
      await Promise.all([own.release(), dispose()]);
    },
  };
}

/** A directory that goes with the last of those that need it. */
class Shared {
  readonly path: string;
  #holders = 1;

  constructor(path: string) {
    this.path = realpathSync(path);
  }

  hold(): void {
    this.#holders++;
  }

  async release(): Promise<void> {
    if (--this.#holders === 0) await discardTree(this.path);
  }
}

async function branch(
  { spec, path, from, base, ownBase, overlay: first, since, isOwn }: PreparedWorkspace,
  layer: HeldLayer,
  scratch: string,
  layers: string,
): Promise<PreparedWorkspace> {
  const common = { spec, from, base, layers, since, isOwn };
  if (first !== undefined) {
    const lower = await layer.mount(base);
    const overlay = makeOverlay(scratch, [lower, base], spec.size);
    layer.hold();
    ownBase?.hold();
    return {
      ...common,
      path,
      ownBase,
      overlay,
      upper: overlay.upper,
      lower,
      dispose: async () => {
        layer.release();
        await Promise.all([ownBase?.release(), discardTree(scratch)]);
      },
    };
  }
  const copy = join(scratch, 'copy');
  const source = { upper: layer.layer.path, base, merged: layer.layer.path };
  await captureLayer(source, copy, new Whiteouts(layers));
  return { ...common, path: copy, upper: copy, dispose: () => discardTree(scratch) };
}

function makeOverlay(
  scratch: string,
  lower: readonly string[],
  size: WorkspaceSpec['size'],
): WorkspaceOverlay {
  if (size !== undefined) {
    const [place, merged] = ['limited', 'merged'].map((name) => join(scratch, name)) as [string, string];
    for (const path of [place, merged]) mkdirSync(path);
    const { bytes, files = Math.ceil(bytes / bytesOfFile) } = size;
    const limit = { place, bytes, files };
    return { lower, upper: join(place, 'upper'), work: join(place, 'work'), merged, limit };
  }
  const [upper, work, merged] = ['upper', 'work', 'merged'].map((name) => {
    const path = join(scratch, name);
    mkdirSync(path);
    return path;
  }) as [string, string, string];
  // The directory that the cell sees has the mode of the upper one.
  chmodSync(upper, statSync(lower[0] as string).mode & 0o7777);
  return { lower, upper, work, merged };
}

/** Whoever names no count of files gets one for each of so many bytes. */
const bytesOfFile = 4096;

let empty: string | undefined;

/** One for all, so that those who begin with it share their base. */
export function emptyDirectory(): string {
  empty ??= realpathSync(makeScratch('empty'));
  return empty;
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === '/' ? '/' : `${resolve(directory)}/`);
}

function notLimited(backend: string): WorkcellError {
  return new WorkcellError(
    'capability-unsupported',
    `Backend "${backend}" cannot limit the size of a workspace here: it takes an overlay of the kernel on a file system in memory, and user namespaces to mount them in. Leave out workspace.size.`,
    { details: { backend, capability: 'workspace.size' } },
  );
}

function holdsItself(from: string): WorkcellError {
  return new WorkcellError(
    'invalid-config',
    `The workspace ${from} holds the directory for temporary files. Name a directory below it, or set TMPDIR to another place.`,
    { details: { workspace: from } },
  );
}
