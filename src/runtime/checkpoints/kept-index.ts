/**
 * Which checkpoints the cell of a directory has, beyond the process that made them. What the index does not name is no
 * checkpoint: who is killed leaves the ones before or the ones after.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { discardTree } from '../../base/remove-tree.js';
import type { Kept } from './checkpoint-list.js';
import { LayerStore } from './layer-store.js';
import type { View } from './workspace-view.js';

const indexSchema = z.object({
  /** The caller's directory that the workspace began with. */
  from: z.string().optional(),
  /** How many to keep, and what one may hold. */
  keep: z.int(),
  maxBytes: z.int(),
  maxFiles: z.int(),
  /** The checkpoint that its line is at. */
  parent: z.string().optional(),
  kept: z.array(
    z.object({
      checkpoint: z.object({
        id: z.string(),
        runtimeId: z.string(),
        label: z.string().optional(),
        parent: z.string().optional(),
        createdAt: z.coerce.date(),
        files: z.number(),
        bytes: z.number(),
      }),
      layer: z.string().regex(/^layer-\d+$/),
      links: z.array(z.array(z.string())),
      ownBytes: z.number(),
    }),
  ),
});

type Index = z.infer<typeof indexSchema>;

/** What holds for all checkpoints of a cell. */
export type KeptSettings = Pick<Index, 'from' | 'keep' | 'maxBytes' | 'maxFiles'>;

export class KeptIndex {
  readonly store: LayerStore;
  readonly kept: readonly Kept[];
  readonly parent: string | undefined;
  readonly settings: KeptSettings;
  readonly #directory: string;

  private constructor(directory: string, { kept, parent, ...settings }: Index, next: number) {
    this.#directory = directory;
    this.parent = parent;
    this.settings = settings;
    this.store = new LayerStore(join(directory, 'layers'), next);
    this.kept = kept.map(({ checkpoint, layer, links, ownBytes }) => {
      const { files, bytes } = checkpoint;
      const path = join(directory, 'layers', layer);
      const seen = new Map<string, string>();
      const held = this.store.open({ path, seen, covered: new Set(), links, files, bytes, ownBytes });
      return { checkpoint, held };
    });
  }

  /**
   * `directory`: of one cell, whose owner alone may enter it. Removes layers that are no checkpoints. `first`: the settings where
   * there is no index.
   */
  static open(directory: string, first: KeptSettings): KeptIndex {
    const layers = join(directory, 'layers');
    mkdirSync(layers, { recursive: true, mode: 0o700 });
    // Says when somebody last did.
    utimesSync(directory, new Date(), new Date());
    const index = readIndex(directory) ?? { ...first, kept: [] };
    const named = new Set(index.kept.map(({ layer }) => layer));
    const there = readdirSync(layers);
    for (const name of there) if (!named.has(name)) void discardTree(join(layers, name)).catch(() => {});
    const numbers = there.map((name) => Number(/\d+$/.exec(name)?.[0] ?? 0));
    return new KeptIndex(directory, index, Math.max(0, ...numbers) + 1);
  }

  /** What the workspace held when it began, where that came from a directory of the caller. */
  get began(): View | undefined {
    return this.settings.from === undefined ? undefined : { layer: beganIn(this.#directory) };
  }

  write(kept: readonly Kept[], parent: string | undefined): void {
    writeIndex(this.#directory, {
      ...this.settings,
      parent,
      kept: kept.map(({ checkpoint, held: { layer } }) => ({
        checkpoint,
        layer: basename(layer.path),
        links: layer.links.map((paths) => [...paths]),
        ownBytes: layer.ownBytes,
      })),
    });
  }
}

/** Where a copy of what the workspace begins with is to be. */
export function beganIn(directory: string): string {
  return join(directory, 'began');
}

/** Says what the workspace of a new cell began with. */
export function beginIndex(directory: string, settings: KeptSettings): void {
  writeIndex(directory, { ...settings, kept: [] });
}

/** Whole or not at all. */
function writeIndex(directory: string, index: Index): void {
  const next = join(directory, 'index.new');
  writeFileSync(next, JSON.stringify(index), { mode: 0o600 });
  renameSync(next, join(directory, 'index.json'));
}

function readIndex(directory: string): Index | undefined {
  let text: string;
  try {
    text = readFileSync(join(directory, 'index.json'), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  return indexSchema.parse(JSON.parse(text));
}
