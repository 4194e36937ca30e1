/** How many connections the previews of each cell have, on one server. */
import { WorkcellError } from '../../protocol/index.js';

/** Of all previews of one cell. Whoever has a link could otherwise use up what all tenants share. */
const mostConnections = 64;

export class PreviewConnections {
  readonly #counts = new Map<string, number>();

  /** Throws when the cell has as many as it may. Returns the function that counts this one out again. */
  enter(cell: string): () => void {
    const count = this.#counts.get(cell) ?? 0;
    if (count >= mostConnections)
      throw new WorkcellError(
        'rate-limited',
        `The previews of this cell have ${mostConnections} connections, which is the most. Try again later.`,
      );
    this.#counts.set(cell, count + 1);
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      const left = (this.#counts.get(cell) ?? 1) - 1;
      if (left === 0) this.#counts.delete(cell);
      else this.#counts.set(cell, left);
    };
  }
}
