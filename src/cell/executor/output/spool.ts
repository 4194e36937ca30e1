/**
 * Keeps a program's output within bounds: all of it while it is short, then its beginning and its most recent part.
 * Positions count raw bytes from the start and stay valid when the spool drops the middle.
 */
import { openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { closeFile } from '../files/free-space.js';

const memoryBytes = 64 * 1024;
const firstMemoryBytes = 1024;

/** How much of the end stays in memory when the disk is full. */
const emergencyBytes = 4 * 1024 * 1024;

export interface SpoolLimits {
  /** How much of the beginning to keep. */
  readonly headBytes: number;
  /** How much of the end to keep. */
  readonly tailBytes: number;
}

const defaultSpoolLimits: SpoolLimits = { headBytes: 16 * 1024 * 1024, tailBytes: 48 * 1024 * 1024 };

const nothing = Buffer.alloc(0);

export class Spool {
  #memory = nothing;
  #descriptor: number | undefined;
  /** Takes the place of the file's ring after a write failed. */
  #emergency: Buffer | undefined;
  #total = 0;
  #disposed = false;
  /** Positions below stay in place; those at or above `#ringStart` go around a ring. */
  #headEnd: number;
  #ringStart: number;
  #ringBytes: number;
  readonly #file: () => string;
  readonly #onHeld: ((change: number) => void) | undefined;
  #held = 0;

  /**
   * `file` names a file that does not exist yet. The spool creates it when memory no longer suffices. `onHeld` hears
   * by how much the bytes in memory change: few, unless the disk is full.
   */
  constructor(
    file: () => string,
    limits: SpoolLimits = defaultSpoolLimits,
    onHeld?: (change: number) => void,
  ) {
    this.#file = file;
    this.#onHeld = onHeld;
    this.#headEnd = limits.headBytes;
    this.#ringStart = limits.headBytes;
    this.#ringBytes = limits.tailBytes;
  }

  get totalBytes(): number {
    return this.#total;
  }

  /** Keeps a copy of the chunk. A full disk is no error: the spool keeps less then. */
  append(chunk: Buffer): void {
    if (this.#disposed || chunk.length === 0) return;
    if (!this.#inMemory) this.#store(chunk);
    else if (this.#total + chunk.length <= memoryBytes) this.#remember(chunk);
    else {
      this.#spill();
      this.#store(chunk);
    }
    this.#tellHeld();
  }

  /**
   * Bytes from a position on. It skips dropped bytes: `from` tells where the data really start. `into`: the buffer to
   * put them in, from a reader that is done with them before it reads on; `limit` must fit in there.
   */
  read(from: number, limit: number, into?: Buffer): { data: Buffer; from: number } {
    let start = Math.min(from, this.#total);
    if (this.#disposed) return { data: Buffer.alloc(0), from: start };
    const room = (length: number) => into?.subarray(0, length) ?? Buffer.allocUnsafe(length);
    if (this.#inMemory) {
      const data = room(Math.min(limit, this.#total - start));
      this.#memory.copy(data, 0, start, start + data.length);
      return { data, from: start };
    }
    const tailStart = Math.max(this.#ringStart, this.#total - this.#ringBytes);
    if (start >= this.#headEnd && start < tailStart) start = tailStart;
    // What stands on the two sides of a gap are not one piece.
    const isWhole = tailStart <= this.#headEnd;
    const end = Math.min(start + limit, !isWhole && start < this.#headEnd ? this.#headEnd : this.#total);
    if (end <= start) return { data: Buffer.alloc(0), from: start };
    const data = room(end - start);
    this.#eachPiece(start, data.length, (offset, at, length) => this.#readPiece(data, offset, at, length));
    return { data, from: start };
  }

  dispose(): void {
    this.#disposed = true;
    this.#memory = nothing;
    this.#emergency = undefined;
    if (this.#descriptor !== undefined) closeFile(this.#descriptor);
    this.#descriptor = undefined;
    this.#tellHeld();
  }

  #tellHeld(): void {
    const held = this.#memory.length + (this.#emergency?.length ?? 0);
    if (held !== this.#held) this.#onHeld?.(held - this.#held);
    this.#held = held;
  }

  get #inMemory(): boolean {
    return this.#descriptor === undefined && this.#emergency === undefined;
  }

  #remember(chunk: Buffer): void {
    const needed = this.#total + chunk.length;
    if (needed > this.#memory.length) {
      const grown = Buffer.allocUnsafeSlow(Math.min(memoryBytes, Math.max(firstMemoryBytes, needed * 2)));
      this.#memory.copy(grown, 0, 0, this.#total);
      this.#memory = grown;
    }
    chunk.copy(this.#memory, this.#total);
    this.#total = needed;
  }

  #spill(): void {
    try {
      const path = this.#file();
      this.#descriptor = openSync(path, 'wx+', 0o600);
      // The open descriptor keeps the data; a file without a name leaves nothing behind, even after a crash.
      unlinkSync(path);
      this.#eachPiece(0, this.#total, (offset, at, length) =>
        this.#writePiece(this.#memory, offset, at, length),
      );
      this.#memory = nothing;
    } catch {
      if (this.#descriptor !== undefined) closeFile(this.#descriptor);
      this.#descriptor = undefined;
      // From now on the content in memory is the head.
      this.#headEnd = this.#total;
      this.#keepInMemory(this.#total);
    }
  }

  #store(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      const piece = rest.subarray(0, Math.min(rest.length, this.#ringBytes));
      try {
        this.#eachPiece(this.#total, piece.length, (offset, at, length) =>
          this.#writePiece(piece, offset, at, length),
        );
      } catch {
        // Write it again from its start, now to memory, which does not fail.
        this.#giveUpDisk(piece.length);
        continue;
      }
      this.#total += piece.length;
      rest = rest.subarray(piece.length);
    }
  }

  /** The written head stays readable, and so does the newest part of the ring that the failed write did not touch. */
  #giveUpDisk(failedBytes: number): void {
    this.#headEnd = Math.min(this.#headEnd, this.#total);
    const intact = Math.min(emergencyBytes, this.#ringBytes) - failedBytes;
    const start = Math.min(this.#total, Math.max(this.#ringStart, this.#total - Math.max(0, intact)));
    const { data } = this.read(start, this.#total - start);
    this.#keepInMemory(start).set(data);
  }

  /** Keeps the end in memory, from a position on. */
  #keepInMemory(start: number): Buffer {
    this.#ringStart = start;
    this.#ringBytes = Math.min(this.#ringBytes, emergencyBytes);
    this.#emergency = Buffer.allocUnsafeSlow(this.#ringBytes);
    return this.#emergency;
  }

  #writePiece(piece: Buffer, offset: number, at: number, length: number): void {
    if (this.#emergency !== undefined) {
      piece.copy(this.#emergency, at - this.#ringStart, offset, offset + length);
      return;
    }
    for (let done = 0; done < length; ) {
      done += writeSync(this.#descriptor as number, piece, offset + done, length - done, at + done);
    }
  }

  #readPiece(data: Buffer, offset: number, at: number, length: number): void {
    if (this.#emergency !== undefined && at >= this.#ringStart) {
      this.#emergency.copy(data, offset, at - this.#ringStart, at - this.#ringStart + length);
      return;
    }
    if (this.#descriptor === undefined) {
      this.#memory.copy(data, offset, at, at + length);
      return;
    }
    for (let done = 0; done < length; ) {
      const size = readSync(this.#descriptor as number, data, offset + done, length - done, at + done);
      if (size === 0) throw new Error(`Kept output ends early, at ${at + done}.`);
      done += size;
    }
  }

  /** Maps a range of positions to places: the head as it is, the rest around a ring behind it. */
  #eachPiece(
    start: number,
    length: number,
    visit: (offset: number, at: number, length: number) => void,
  ): void {
    let offset = 0;
    while (offset < length) {
      const position = start + offset;
      const inHead = position < this.#headEnd;
      const at = inHead ? position : this.#ringStart + ((position - this.#ringStart) % this.#ringBytes);
      const room = inHead ? this.#headEnd - position : this.#ringStart + this.#ringBytes - at;
      const size = Math.min(length - offset, room);
      visit(offset, at, size);
      offset += size;
    }
  }
}
