/** Holds what the one reader of a stream has not taken yet, and holds the source back when that becomes too much. */

/** Hold the source back when the reader is this far behind. */
const highWaterBytes = 256 * 1024;
/** What a chunk takes besides its bytes: a program that prints one byte at a time must not fill the memory with chunks. */
const chunkBytes = 64;

export class ReaderQueue implements AsyncIterable<Uint8Array> {
  /** Settles when the source continues; undefined while it runs. */
  held: Promise<void> | undefined;

  readonly #source: { pause(): void; resume(): void };
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #release = (): void => {};
  #wake = (): void => {};
  #ended = false;
  #dropped = false;

  constructor(source: { pause(): void; resume(): void }) {
    this.#source = source;
  }

  push(chunk: Buffer): void {
    if (this.#dropped) return;
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length + chunkBytes;
    this.#wake();
    if (this.#queuedBytes < highWaterBytes || this.held !== undefined) return;
    this.#source.pause();
    this.held = new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  /** Nothing more comes. The reader can still take what the queue holds. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Takes no more and drops the queue, so that the source can continue. */
  drop(): void {
    this.#dropped = true;
    this.#queue = [];
    this.#queuedBytes = 0;
    this.letGo();
  }

  letGo(): void {
    if (this.held === undefined) return;
    this.held = undefined;
    this.#release();
    this.#source.resume();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const [chunk] = this.#queue;
        if (chunk !== undefined) {
          // All at once: taking the first of a long queue costs as much as the queue is long.
          const taken = this.#queue.length === 1 ? chunk : Buffer.concat(this.#queue);
          this.#queue = [];
          this.#queuedBytes = 0;
          this.letGo();
          yield taken;
        } else if (this.#ended) return;
        else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
    } finally {
      // A reader that leaves early must not stop the source.
      this.drop();
    }
  }
}
