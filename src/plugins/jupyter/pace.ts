/** Passes streams on to a listener that may need time for each piece, and holds the kernel back meanwhile. */
import type { ExecuteContext } from '../../protocol/index.js';

/** A listener may be so far behind before the kernel is stopped. */
const windowBytes = 1024 * 1024;

interface Piece {
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
  readonly sequence: number;
  readonly bytes: number;
}

export class Pace {
  readonly #onProgress: ExecuteContext['onProgress'];
  readonly #producer: { pause(): void; resume(): void };
  readonly #positions = { stdout: 0, stderr: 0 };
  readonly #waiting: Piece[] = [];
  #waitingBytes = 0;
  #active = false;
  #work: Promise<void> | undefined;
  #paused = false;

  constructor(onProgress: ExecuteContext['onProgress'], producer: { pause(): void; resume(): void }) {
    this.#onProgress = onProgress;
    this.#producer = producer;
  }

  push(stream: 'stdout' | 'stderr', text: string): void {
    if (this.#onProgress === undefined || text === '') return;
    const bytes = Buffer.byteLength(text);
    const sequence = this.#positions[stream];
    this.#positions[stream] += bytes;
    this.#waiting.push({ stream, text, sequence, bytes });
    this.#waitingBytes += bytes;
    if (!this.#active) {
      this.#active = true;
      this.#work = this.#deliver();
    }
    if (this.#waitingBytes > windowBytes && !this.#paused) {
      this.#paused = true;
      this.#producer.pause();
    }
  }

  /** Settles when the listener has dealt with everything. */
  async drained(): Promise<void> {
    while (this.#active) await this.#work;
  }

  async #deliver(): Promise<void> {
    for (let piece = this.#waiting.shift(); piece !== undefined; piece = this.#waiting.shift()) {
      const { stream, text, sequence, bytes } = piece;
      try {
        const answer = this.#onProgress?.({ type: 'output-delta', stream, text, sequence });
        if (answer instanceof Promise) await answer;
      } catch {
        // A listener that fails is its owner's concern; the cell goes on.
      }
      this.#waitingBytes -= bytes;
      if (this.#paused && this.#waitingBytes <= windowBytes / 2) {
        this.#paused = false;
        this.#producer.resume();
      }
    }
    this.#active = false;
  }
}
