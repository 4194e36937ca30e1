/** Checkpoints in directories of their own, which outlive the runtime that made them. */
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { discardTree } from '../../base/remove-tree.js';
import { captureLayer } from './capture.js';
import type { Checkpoint } from './checkpoint-types.js';
import type { Links } from './hard-links.js';
import { HeldLayer, linkLayer } from './layer-store.js';
import type { Kept } from './runtime-checkpoints.js';
import { Whiteouts } from './whiteouts.js';

export interface SavedLayer {
  readonly checkpoint: Checkpoint;
  /** The names of files that have several. */
  readonly links: Links;
}

/** `base`: an empty one, so that the layer is all that there is. Files are shared where one file system has both. */
export async function saveLayer(
  { layer: { path }, whiteouts }: HeldLayer,
  base: string,
  directory: string,
): Promise<void> {
  try {
    const isNear = statSync(path).dev === statSync(dirname(directory)).dev;
    if (isNear) await linkLayer(path, directory, whiteouts);
    else await captureLayer({ upper: path, base, merged: path }, directory, whiteouts);
  } catch (error) {
    await discardTree(directory);
    throw error;
  }
}

/** A saved checkpoint for the verbs of a runtime. Its directory stays when nobody holds it any more. */
export function openSaved({ checkpoint, links }: SavedLayer, directory: string): Kept {
  const { files, bytes } = checkpoint;
  const layer = {
    path: directory,
    seen: new Map(),
    covered: new Set<string>(),
    links,
    files,
    bytes,
    ownBytes: 0,
  };
  return { checkpoint, held: new HeldLayer(layer, new Whiteouts(directory), () => {}) };
}
