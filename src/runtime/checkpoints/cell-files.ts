/**
 * The files of a cell on another machine, copied through the streams of its executor: a mirror of its workspace on this side,
 * from which checkpoints are made. What changes in the mirror goes back into the cell.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { discardTree } from '../../base/remove-tree.js';
import { type Cell, WorkcellError } from '../../protocol/index.js';
import type { CaptureLimits } from './capture.js';
import { compareViews, type Difference } from './compare.js';
import { textOf } from './layer-folder.js';
import { receiveTree } from './receive-tree.js';
import { fillWorkspace, sendChanges } from './send-changes.js';
import type { View } from './workspace-view.js';
import { type Write, type Written, writeChanges } from './write-changes.js';

export interface CellFilesParts {
  readonly cell: Cell;
  /** Holds what the cell is to begin with, and is removed by its maker. */
  readonly mirror: string;
  /** An empty directory. */
  readonly base: string;
  /** A directory for what is on its way. */
  readonly scratch: string;
  readonly limits: CaptureLimits;
}

export class CellFiles {
  readonly #parts: CellFilesParts;
  #count = 0;

  constructor(parts: CellFilesParts) {
    this.#parts = parts;
  }

  /** Fills the workspace, which must be empty: what is there could belong to somebody else. */
  async begin(): Promise<void> {
    const { cell, base } = this.#parts;
    const empty = { base };
    await this.#received(async (present) => {
      const [first] = await compareViews(empty, present);
      if (first !== undefined) throw notEmpty(cell, textOf(first.path));
    });
    const all = await compareViews(empty, this.#mirror);
    if (all.length === 0) return;
    await fillWorkspace(cell, this.#mirror, all);
    const [missing] = (await this.pull()).filter(isCarried);
    if (missing !== undefined) throw notFilled(cell, textOf(missing.path));
  }

  /** Brings the mirror up to what the cell has now. Returns what differed. */
  pull(): Promise<Difference[]> {
    return this.#received(async (present) => {
      // What the cell sent is within limits, and a difference that is none would count as a failure to write.
      const differences = await compareViews(this.#mirror, present, { mostBytes: Infinity });
      await writeChanges(this.#parts.mirror, present, differences);
      return differences;
    });
  }

  /** Makes the mirror and the cell hold what a view does, for the paths of some differences. */
  async write(after: View, writes: readonly Write[]): Promise<Written> {
    const { states, late } = await writeChanges(this.#parts.mirror, after, writes);
    await sendChanges(this.#parts.cell, this.#mirror, writes);
    const found = (await this.pull()).filter(isCarried).map(({ path }) => path);
    return { states, late: new Set([...late, ...found]) };
  }

  get #mirror(): View {
    const { mirror, base } = this.#parts;
    return { layer: mirror, base };
  }

  /** Calls `use` with what the cell holds now. */
  async #received<T>(use: (present: View) => Promise<T>): Promise<T> {
    const { cell, base, scratch, limits } = this.#parts;
    const layer = join(scratch, `received-${this.#count++}`);
    mkdirSync(layer, { mode: 0o700 });
    try {
      const { content } = await cell.executor.download(cell.workspace, { format: 'tar' });
      await receiveTree(content, layer, limits, this.#mirror);
      return await use({ layer, base });
    } finally {
      await discardTree(layer);
    }
  }
}

/** Archives hold no pipes and sockets, and no bits that let a file run as its owner. */
function isCarried({ before, after }: Difference): boolean {
  const side = before ?? after;
  return side?.kind !== 'special' && !(side?.kind === 'file' && side.mode > 0o777);
}

export function notEmpty({ backend }: Cell, path: string): WorkcellError {
  return new WorkcellError(
    'capability-unsupported',
    `The workspace of this ${backend} cell already holds ${JSON.stringify(path)}, so it cannot begin as another one. Use a cell with an empty workspace, or leave out workspace.`,
    { details: { backend, capability: 'workspace', path } },
  );
}

function notFilled({ backend }: Cell, path: string): WorkcellError {
  return new WorkcellError(
    'internal',
    `The workspace of this ${backend} cell did not take ${JSON.stringify(path)} as it is. Leave it out, or use another backend.`,
    { details: { backend, path } },
  );
}
