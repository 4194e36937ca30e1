/** Randomness that a seed repeats. Both sides use it: the owner of a cell and the programs inside. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
    // Neighbouring seeds begin alike; the first few values do not count.
    for (let count = 0; count < 4; count++) this.#next();
  }

  /** From 0 up to, not including, `below`. */
  int(below: number): number {
    return Math.floor((this.#next() / 2 ** 32) * below);
  }

  /** Both ends included. */
  between(least: number, most: number): number {
    return least + this.int(most - least + 1);
  }

  /** Small more often than large: each magnitude up to `most` is as likely as the others. */
  size(most: number): number {
    return Math.floor(2 ** ((this.#next() / 2 ** 32) * Math.log2(most + 1)));
  }

  chance(probability: number): boolean {
    return this.#next() / 2 ** 32 < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.int(items.length)] as Item;
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    for (let at = 0; at < length; at++) bytes[at] = this.#next() >>> 24;
    return bytes;
  }

  /** A list of as many items as `size(most)` says. */
  list<Item>(most: number, item: () => Item): Item[] {
    return Array.from({ length: this.size(most) }, item);
  }

  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }
}
