/** The last lines of an action by byte position: the newest in memory, those before them in a spool on disk. */
import { Spool } from '../executor/output/spool.js';

/** More than the buffers of a connection hold, which is what a reader may have lost. */
const keptBytes = 16 * 1024 * 1024;

/** How much stays in memory; beyond the second figure the oldest part goes to disk, much at once. */
const memoryBytes = 256 * 1024;
const mostMemoryBytes = 768 * 1024;
const firstMemoryBytes = 4096;

const pieceBytes = 128 * 1024;

export class Journal {
  readonly #spool: Spool;
  /** One buffer for all lines: endless output would otherwise make buffers faster than Node collects them. */
  #memory = Buffer.alloc(0);
  #length = 0;

  /** `file` names a file that does not exist yet; the journal makes it when memory no longer suffices. */
  constructor(file: () => string) {
    this.#spool = new Spool(file, { headBytes: 0, tailBytes: keptBytes });
  }

  get totalBytes(): number {
    return this.#spool.totalBytes + this.#length;
  }

  /** How much of it is still readable. */
  get keptBytes(): number {
    return Math.min(this.#spool.totalBytes, keptBytes) + this.#length;
  }

  append(text: string): void {
    const size = Buffer.byteLength(text);
    if (size > mostMemoryBytes - memoryBytes) {
      this.#spill(0);
      this.#spool.append(Buffer.from(text));
      return;
    }
    if (this.#length + size > mostMemoryBytes) this.#spill(memoryBytes);
    this.#makeRoom(size);
    this.#length += this.#memory.write(text, this.#length);
  }

  /** Bytes from a position on, at most a piece; undefined when it has dropped them. */
  read(position: number): Buffer | undefined {
    const start = position - this.#spool.totalBytes;
    if (start >= 0)
      return Buffer.from(this.#memory.subarray(start, Math.min(start + pieceBytes, this.#length)));
    const { data, from } = this.#spool.read(position, pieceBytes);
    return from === position ? data : undefined;
  }

  dispose(): void {
    this.#memory = Buffer.alloc(0);
    this.#length = 0;
    this.#spool.dispose();
  }

  /** Moves all but the newest to disk. */
  #spill(keptBytes: number): void {
    const count = Math.max(0, this.#length - keptBytes);
    this.#spool.append(this.#memory.subarray(0, count));
    this.#memory.copyWithin(0, count, this.#length);
    this.#length -= count;
  }

  #makeRoom(size: number): void {
    const needed = this.#length + size;
    if (needed <= this.#memory.length) return;
    const grown = Buffer.allocUnsafeSlow(
      Math.min(mostMemoryBytes, Math.max(firstMemoryBytes, needed, this.#memory.length * 2)),
    );
    this.#memory.copy(grown, 0, 0, this.#length);
    this.#memory = grown;
  }
}
