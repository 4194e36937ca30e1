/**
 * Sockets that read in large pieces. Node makes a new buffer of 64 KiB for each read, and at high rates that costs more
 * than the bytes themselves. These read into the same memory again and again, and into more as long as reads fill it.
 */
import type { OnReadOpts, Socket } from 'node:net';

const least = 2 ** 14;
const most = 2 ** 18;

/** What the memory of all sockets may grow by together: a cell must not take more by many connections. */
const room = 2 ** 25;
let grown = 0;

/** Takes a piece, or leaves it to the stream by `false`. Nothing else is read into its memory until it calls `done`. */
type Take = (piece: Buffer, done: () => void) => boolean;

class LargeReads {
  take: Take | undefined;
  #buffer: Buffer = Buffer.allocUnsafeSlow(least);
  /** Alternates with the other while pieces wait to be written. */
  #spare: Buffer | undefined;
  readonly #inUse = new Set<Buffer>();
  #isClosed = false;

  onread(socket: () => Socket): OnReadOpts {
    return {
      buffer: () => this.#freeBuffer(),
      callback: (bytes) => {
        const buffer = this.#buffer;
        // A small piece that waits must not keep the whole buffer.
        const isSmall = bytes < least / 2;
        const piece = isSmall ? Buffer.from(buffer.subarray(0, bytes)) : buffer.subarray(0, bytes);
        if (!isSmall) this.#inUse.add(buffer);
        const done = () => void this.#inUse.delete(buffer);
        const isTaken = this.take?.(piece, done) === true;
        const mayRead = isTaken || socket().push(isSmall ? piece : Buffer.from(piece));
        if (!isTaken) done();
        if (bytes === buffer.length) this.#grow();
        return mayRead;
      },
    };
  }

  close(): void {
    this.#isClosed = true;
    grown -= this.#buffer.length - least;
  }

  #freeBuffer(): Buffer {
    if (!this.#inUse.has(this.#buffer)) return this.#buffer;
    const { length } = this.#buffer;
    const spare = this.#spare;
    const isFree = spare?.length === length && !this.#inUse.has(spare);
    this.#spare = this.#buffer;
    this.#buffer = isFree ? spare : Buffer.allocUnsafeSlow(length);
    return this.#buffer;
  }

  #grow(): void {
    const { length } = this.#buffer;
    if (this.#isClosed || length >= most || grown + length > room) return;
    grown += length;
    this.#buffer = Buffer.allocUnsafeSlow(length * 2);
  }
}

const known = new WeakMap<object, LargeReads>();

/** Makes a socket with large reads. It is a stream like any other, until somebody takes its pieces. */
export function withLargeReads(connect: (onread: OnReadOpts) => Socket): Socket {
  const reads = new LargeReads();
  const socket: Socket = connect(reads.onread(() => socket));
  known.set(socket, reads);
  socket.once('close', () => reads.close());
  return socket;
}

/** Gives `take` what a socket reads from now on; nothing when the stream has no large reads. */
export function takePieces(from: object, take: Take): void {
  const reads = known.get(from);
  if (reads !== undefined) reads.take = take;
}
