/**
 * Delivers what a stream of a cell brings one by one, each in a turn of the event loop of its own: a cell decides how many
 * messages there are in one piece, and thousands in a row would keep everything else waiting.
 */

interface Source {
  pause(): unknown;
  resume(): unknown;
}

/** With so many waiting, the source brings no more. */
const mostWaiting = 256;

export class Turns<Item> {
  readonly #source: Source;
  readonly #deliver: (item: Item) => void;
  #items: (Item | undefined)[] = [];
  #at = 0;
  #isDue = false;
  #isPaused = false;
  #onEmpty: (() => void)[] = [];

  /** `deliver` must not throw. */
  constructor(source: Source, deliver: (item: Item) => void) {
    this.#source = source;
    this.#deliver = deliver;
  }

  add(item: Item): void {
    this.#items.push(item);
    if (!this.#isDue) setImmediate(this.#next);
    this.#isDue = true;
    if (this.#isPaused || this.#items.length - this.#at < mostWaiting) return;
    this.#isPaused = true;
    this.#source.pause();
  }

  /** Settles when nothing waits. */
  whenEmpty(): Promise<void> {
    if (this.#items.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onEmpty.push(resolve));
  }

  /** Forgets what waits. */
  clear(): void {
    this.#items = [];
    this.#at = 0;
    for (const settle of this.#onEmpty.splice(0)) settle();
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#source.resume();
  }

  readonly #next = (): void => {
    this.#isDue = false;
    if (this.#at === this.#items.length) return;
    const item = this.#items[this.#at] as Item;
    this.#items[this.#at++] = undefined;
    this.#deliver(item);
    if (this.#at >= this.#items.length) this.clear();
    else if (!this.#isDue) setImmediate(this.#next);
    this.#isDue = this.#items.length > 0;
  };
}
