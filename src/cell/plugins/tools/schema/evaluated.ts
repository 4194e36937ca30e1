/** What the keywords of a schema have looked at, for those that speak of the rest: `unevaluatedProperties`, `unevaluatedItems`. */
export class Evaluated {
  readonly names = new Set<string>();
  readonly items = new Set<number>();
  #first = 0;

  /** This many items from the first on. */
  addItems(first: number): void {
    this.#first = Math.max(this.#first, first);
  }

  hasItem(index: number): boolean {
    return index < this.#first || this.items.has(index);
  }

  add(other: Evaluated): void {
    this.addItems(other.#first);
    for (const name of other.names) this.names.add(name);
    for (const index of other.items) this.items.add(index);
  }
}
