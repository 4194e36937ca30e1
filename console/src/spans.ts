/** Entries by the time that they took, to find the last of them that ran at a moment without asking each. */
import type { Entry } from './timeline.js';

export class Spans {
  readonly #entries: readonly Entry[];
  readonly #begins: readonly number[];
  /** A tree over the ends: each node has the latest end below it, and the leaves are its second half. */
  readonly #latest: number[];
  readonly #size: number;

  /** `now`: when those end that still run. */
  constructor(entries: readonly Entry[], now: number) {
    this.#entries = entries.toSorted((left, right) => left.at - right.at);
    this.#begins = this.#entries.map(({ at }) => at);
    this.#size = 2 ** Math.ceil(Math.log2(Math.max(1, entries.length)));
    this.#latest = new Array<number>(2 * this.#size).fill(Number.NEGATIVE_INFINITY);
    for (const [index, { endedAt = now }] of this.#entries.entries())
      this.#latest[this.#size + index] = endedAt;
    for (let node = this.#size - 1; node > 0; node--)
      this.#latest[node] = Math.max(this.#end(2 * node), this.#end(2 * node + 1));
  }

  /** Of those that ran at a moment, the one that began last. `slackMs`: one may have begun so much later. */
  last(moment: number, slackMs = 0): Entry | undefined {
    let node = this.#size + this.#begun(moment + slackMs) - 1;
    if (node < this.#size) return undefined;
    // Up and to the left, until there is one below that ended late enough.
    while (this.#end(node) < moment) {
      while (node % 2 === 0) node /= 2;
      if (node <= 1) return undefined;
      node--;
    }
    while (node < this.#size) node = this.#end(2 * node + 1) >= moment ? 2 * node + 1 : 2 * node;
    return this.#entries[node - this.#size];
  }

  /** How many had begun by then. */
  #begun(moment: number): number {
    let low = 0;
    let high = this.#begins.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#begins[middle] as number) <= moment) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #end(node: number): number {
    return this.#latest[node] as number;
  }
}
