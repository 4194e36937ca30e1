import type { Work } from './work.js';

/**
 * What the keywords of a schema have covered, for keywords about the rest: `unevaluatedProperties`,
 * `unevaluatedItems`.
 */
export class Evaluated {
  names = new Set<string>();
  items = new Set<number>();
  #first = 0;

  /** This many items from the first on. */
  addItems(first: number): void {
    this.#first = Math.max(this.#first, first);
  }

  hasItem(index: number): boolean {
    return index < this.#first || this.items.has(index);
  }

  /** Takes over the notes of another one, which nobody uses any more. */
  take(other: Evaluated, work: Work): void {
    this.addItems(other.#first);
    this.names = union(this.names, other.names, work);
    this.items = union(this.items, other.items, work);
  }
}

/** Adds the smaller set to the larger one, so that schemas which refer to each other in a row copy nothing. */
function union<T>(one: Set<T>, other: Set<T>, work: Work): Set<T> {
  const [small, large] = one.size < other.size ? [one, other] : [other, one];
  work.spend(small.size);
  for (const entry of small) large.add(entry);
  return large;
}
