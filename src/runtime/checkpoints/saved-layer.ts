/** Checkpoints in directories of their own, which outlive the runtime that made them. */

import type { Kept } from './checkpoint-list.js';
import type { Checkpoint } from './checkpoint-types.js';
import type { Links } from './hard-links.js';
import { HeldLayer } from './layer-store.js';
import { Whiteouts } from './whiteouts.js';

export interface SavedLayer {
  readonly checkpoint: Checkpoint;
  /** The names of files that have several. */
  readonly links: Links;
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
