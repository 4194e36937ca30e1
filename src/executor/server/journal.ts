/** The last lines of an action by byte position: the newest in memory, those before them in a spool on disk. */
import { Spool } from '../output/spool.js';

/** More than the buffers of a connection hold, which is what a reader may have lost. */
const keptBytes = 16 * 1024 * 1024;

/** So much stays in memory; beyond the second figure the oldest of it goes to disk, many lines at once. */
const memoryBytes = 256 * 1024;
const mostMemoryBytes = 768 * 1024;

const pieceBytes = 128 * 1024;

export class Journal {
  readonly #spool: Spool;
  #lines: Buffer[] = [];
  #lineBytes = 0;

  /** `file` names a file that does not exist yet; it is made when memory no longer suffices. */
  constructor(file: () => string) {
    this.#spool = new Spool(file, { headBytes: 0, tailBytes: keptBytes });
  }

  get totalBytes(): number {
    return this.#spool.totalBytes + this.#lineBytes;
  }

  append(line: Buffer): void {
    this.#lines.push(line);
    this.#lineBytes += line.length;
    if (this.#lineBytes > mostMemoryBytes) this.#spill();
  }

  /** Bytes from a position on, at most a piece; undefined when they are no longer kept. */
  read(position: number): Buffer | undefined {
    if (position < this.#spool.totalBytes) {
      const { data, from } = this.#spool.read(position, pieceBytes);
      return from === position ? data : undefined;
    }
    // A reader is mostly near the end, so the line is looked for from there.
    let index = this.#lines.length;
    let start = this.totalBytes;
    while (start > position) start -= this.#lines[--index]?.length ?? start;
    const first = this.#lines[index]?.subarray(position - start) ?? Buffer.alloc(0);
    const pieces = [first];
    let length = first.length;
    for (let line = this.#lines[++index]; line !== undefined; line = this.#lines[++index]) {
      if (length + line.length > pieceBytes) break;
      pieces.push(line);
      length += line.length;
    }
    return pieces.length === 1 ? first : Buffer.concat(pieces, length);
  }

  dispose(): void {
    this.#lines = [];
    this.#spool.dispose();
  }

  #spill(): void {
    let count = 0;
    let length = 0;
    while (this.#lineBytes - length > memoryBytes) length += this.#lines[count++]?.length ?? 0;
    this.#spool.append(Buffer.concat(this.#lines.slice(0, count), length));
    this.#lines = this.#lines.slice(count);
    this.#lineBytes -= length;
  }
}
