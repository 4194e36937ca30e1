/**
 * Passes displays of a code cell to a listener that may need time for each piece, and holds the kernel back
 * meanwhile.
 */
import type { Display, ExecuteContext, Progress } from '../../../protocol/index.js';

/** Stop the kernel when the listener is this far behind. */
const windowBytes = 1024 * 1024;
/** What a piece takes besides its content: a kernel may show nothing, very often. */
const pieceBytes = 256;

/** Media of one display that are longer only come with the observation. */
const displayBytes = 4 * 1024 * 1024;

interface Piece {
  readonly progress: Progress;
  readonly bytes: number;
}

export class DisplayBackpressure {
  readonly #onProgress: ExecuteContext['onProgress'];
  readonly #producer: { pause(): void; resume(): void };
  readonly #positions = { stdout: 0, stderr: 0 };
  #waiting: Piece[] = [];
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
    this.#add({ type: 'output-delta', stream, text, sequence }, bytes);
  }

  show(display: Omit<Display, 'type'>): void {
    if (this.#onProgress === undefined) return;
    const omitted = { ...display.omitted };
    const data: Record<string, unknown> = {};
    let total = 0;
    for (const [mediaType, value] of Object.entries(display.data)) {
      const bytes = Buffer.byteLength(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
      if (total + bytes > displayBytes) omitted[mediaType] ??= bytes;
      else {
        data[mediaType] = value;
        total += bytes;
      }
    }
    const isWhole = Object.keys(omitted).length === 0;
    this.#add({ ...display, type: 'display', data, omitted: isWhole ? undefined : omitted }, total);
  }

  #add(progress: Progress, contentBytes: number): void {
    const bytes = contentBytes + pieceBytes;
    this.#waiting.push({ progress, bytes });
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
    while (this.#waiting.length > 0) {
      // All at once: taking the first of a long queue costs as much as the queue is long.
      const pieces = this.#waiting;
      this.#waiting = [];
      for (const piece of pieces) await this.#hand(piece);
    }
    this.#active = false;
  }

  async #hand({ progress, bytes }: Piece): Promise<void> {
    try {
      await this.#onProgress?.(progress);
    } catch {
      // A failing listener is its owner's concern; the code cell continues.
    }
    this.#waitingBytes -= bytes;
    if (!this.#paused || this.#waitingBytes > windowBytes / 2) return;
    this.#paused = false;
    this.#producer.resume();
  }
}
