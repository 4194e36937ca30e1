/** Processor time as a share, from one look at a cell to the next. */
import type { CellUse } from '../../src/protocol/record-wire.js';

export class Rates {
  readonly #before = new Map<string, { use: CellUse; percent: number | undefined }>();

  /** In percent of one processor; undefined until there were two looks. */
  percent(id: string, use: CellUse | undefined): number | undefined {
    if (use === undefined) return void this.#before.delete(id);
    const before = this.#before.get(id);
    if (before !== undefined && before.use.at >= use.at) return before.percent;
    const percent =
      before === undefined
        ? undefined
        : // The time of a process is gone when it ends.
          Math.max(0, (100 * (use.cpuMs - before.use.cpuMs)) / (use.at - before.use.at));
    this.#before.set(id, { use, percent });
    return percent;
  }
}
