/** The directories of a cell besides its workspace that its checkpoints hold where somebody asks for it: its home, its temporary files. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CaptureLimits, CaptureSource } from './capture.js';
import { compareViews } from './compare.js';
import type { HeldLayer, LayerStore } from './layer-store.js';
import type { View } from './workspace-view.js';
import { notWritten, writeChanges } from './write-changes.js';

export interface OtherPlacesParts {
  /** By name, the paths by which this side reaches them. */
  readonly paths: ReadonlyMap<string, string>;
  readonly store: LayerStore;
  /** A directory for an empty one. */
  readonly scratch: string;
  readonly limits: CaptureLimits;
  readonly mapped: CaptureSource['mapped'];
}

export class OtherPlaces {
  readonly #parts: OtherPlacesParts;
  readonly #base: string;

  constructor(parts: OtherPlacesParts) {
    this.#parts = parts;
    this.#base = join(parts.scratch, 'no-places');
    mkdirSync(this.#base);
  }

  /** Adds what they hold to a layer of the workspace, and goes with it. Shares unchanged files with an earlier one. */
  async capture(held: HeldLayer, previous?: HeldLayer, signal?: AbortSignal): Promise<void> {
    for (const [name, path] of this.#parts.paths)
      held.others.set(name, await this.#layer(path, previous?.others.get(name), signal));
  }

  /** Makes them hold what a layer of the workspace says. `present`: one of what they hold now. */
  async restore(goal: HeldLayer, present?: HeldLayer): Promise<void> {
    const left: string[] = [];
    for (const [name, path] of this.#parts.paths) {
      const wanted = goal.others.get(name);
      if (wanted === undefined) continue;
      // Never the directory itself: other file systems may be mounted in it.
      const known = present?.others.get(name)?.hold();
      const now = known ?? (await this.#layer(path, undefined));
      try {
        const after = { layer: wanted.layer.path };
        const differences = await compareViews({ layer: now.layer.path }, after, { mostBytes: Infinity });
        const { late } = await writeChanges(path, after, differences);
        left.push(...[...late].map((entry) => `${name}/${entry}`));
      } finally {
        now.release();
      }
    }
    if (left.length > 0) throw notWritten('the other places of the cell', left);
  }

  /** Whether they hold something else at two moments. */
  async differ(one: HeldLayer, other: HeldLayer): Promise<boolean> {
    for (const name of this.#parts.paths.keys()) {
      const [before, after] = [one, other].map((held) => ({ layer: held.others.get(name)?.layer.path }));
      if ((await compareViews(before as View, after as View)).length > 0) return true;
    }
    return false;
  }

  #layer(path: string, previous: HeldLayer | undefined, signal?: AbortSignal): Promise<HeldLayer> {
    const { store, limits, mapped } = this.#parts;
    const source = { upper: path, base: this.#base, merged: path, mapped, oneDevice: true };
    return store.capture(source, previous?.layer, { ...limits, signal });
  }
}
