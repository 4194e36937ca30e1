/** Holds the layers of one runtime, each for as long as a checkpoint or a cell needs it. */
import { join } from 'node:path';
import { discardTree } from '../../base/remove-tree.js';
import { type CaptureLimits, type CaptureSource, captureLayer, type Layer } from './capture.js';
import { Whiteouts } from './whiteouts.js';

/** Removes it when nobody holds it any more. */
export class HeldLayer {
  readonly layer: Layer;
  readonly #onFree: () => void;
  #holders = 1;

  constructor(layer: Layer, onFree: () => void) {
    this.layer = layer;
    this.#onFree = onFree;
  }

  hold(): this {
    this.#holders++;
    return this;
  }

  release(): void {
    if (--this.#holders === 0) this.#onFree();
  }
}

export class LayerStore {
  readonly #directory: string;
  readonly #whiteouts: Whiteouts;
  readonly #removing = new Set<Promise<void>>();
  #count = 0;
  #live = 0;
  #isClosed = false;

  /** `directory`: empty, on the file system of the upper layer, and removed when all is over. */
  constructor(directory: string) {
    this.#directory = directory;
    this.#whiteouts = new Whiteouts(directory);
  }

  async capture(source: CaptureSource, previous?: Layer, limits?: CaptureLimits): Promise<HeldLayer> {
    const path = join(this.#directory, `layer-${this.#count++}`);
    this.#live++;
    try {
      const layer = await captureLayer(source, path, this.#whiteouts, previous, limits);
      return new HeldLayer(layer, () => this.#free(path));
    } catch (error) {
      this.#free(path);
      throw error;
    }
  }

  /** Settles after removing everything that nobody holds. Layers that forks hold stay until those end. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#sweep();
    await Promise.all(this.#removing);
  }

  #free(path: string): void {
    this.#live--;
    this.#remove(path);
    this.#sweep();
  }

  #sweep(): void {
    if (this.#isClosed && this.#live === 0) this.#remove(this.#directory);
  }

  #remove(path: string): void {
    const removing = discardTree(path).finally(() => this.#removing.delete(removing));
    this.#removing.add(removing);
  }
}
