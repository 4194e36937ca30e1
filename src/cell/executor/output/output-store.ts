/** The outputs of a cell by their handles. Beyond a number it drops outputs of ended commands, oldest first. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { WorkcellError } from '../../../protocol/index.js';
import type { KeptOutput } from '../../plugins/plugin.js';
import { Spool, type SpoolLimits } from './spool.js';

export type StreamName = 'terminal' | 'stdout' | 'stderr';

const keptOutputs = 256;

/** How much memory the output of ended commands can take. It takes any only where the disk is full. */
const heldBytes = 64 * 1024 * 1024;

/** The kept output of one command or process: one spool for each of its streams. */
export class Output {
  complete = false;
  readonly #spools: readonly Spool[];

  constructor(
    readonly id: string,
    readonly streams: Readonly<Partial<Record<StreamName, Spool>>>,
  ) {
    this.#spools = Object.values(streams);
  }

  dispose(): void {
    for (const spool of this.#spools) spool.dispose();
  }
}

export class OutputStore {
  readonly #directory: () => string;
  readonly #limits: SpoolLimits | undefined;
  /** Makes handles of one cell useless in another. */
  readonly #name = randomBytes(6).toString('hex');
  #count = 0;
  /** Bytes of all outputs in memory. */
  #held = 0;
  readonly #onHeld = (change: number) => {
    this.#held += change;
  };
  readonly #outputs = new Map<string, Output>();

  /** `directory` tells where long outputs go, once there is one; only this side may see it. */
  constructor(directory: () => string, limits?: SpoolLimits) {
    this.#directory = directory;
    this.#limits = limits;
  }

  create(streams: readonly StreamName[]): Output {
    const id = `${this.#name}${(++this.#count).toString(36)}`;
    const spools = streams.map((stream) => [
      stream,
      new Spool(() => join(this.#directory(), `output-${id}-${stream}`), this.#limits, this.#onHeld),
    ]);
    const output = new Output(id, Object.fromEntries(spools));
    this.#outputs.set(id, output);
    this.#dropOldest();
    return output;
  }

  /** A place for output that does not come from the executor's own processes. */
  open(): KeptOutput {
    const output = this.create(['stdout', 'stderr']);
    return {
      id: output.id,
      append: (stream, chunk) => output.streams[stream]?.append(chunk),
      end() {
        output.complete = true;
      },
    };
  }

  get(id: string): Output {
    const output = this.#outputs.get(id);
    if (output !== undefined) return output;
    throw new WorkcellError(
      'output-not-found',
      `There is no output "${id}": it never existed, or ${keptOutputs} newer ones replaced it.`,
      { details: { outputId: id } },
    );
  }

  close(): void {
    for (const output of this.#outputs.values()) output.dispose();
    this.#outputs.clear();
  }

  #dropOldest(): void {
    for (const output of this.#outputs.values()) {
      if (this.#outputs.size <= keptOutputs && this.#held <= heldBytes) return;
      if (!output.complete) continue;
      this.#outputs.delete(output.id);
      output.dispose();
    }
  }
}
