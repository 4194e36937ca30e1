/** What a program prints, as it comes out of a pipe or a terminal. */
import { Socket, type SocketConstructorOpts } from 'node:net';

/**
 * Read everything into this one buffer, because we handle each piece before we read the next. Node would use a new
 * buffer of this size for each piece, and endless output would make garbage faster than Node collects it.
 */
const shared = Buffer.allocUnsafeSlow(64 * 1024);

/** In words of our own: the types of Node call it differently from one version to the next. */
interface Reading {
  readonly onread: { buffer: Uint8Array; callback(length: number, buffer: Uint8Array): boolean };
}

/**
 * For the options of a socket. `take` must be done with a piece when it returns, and tells whether it wants more now.
 */
export function readingThrough(take: (piece: Buffer) => boolean): SocketConstructorOpts & Reading {
  return { onread: { buffer: shared, callback: (length) => take(shared.subarray(0, length)) } };
}

export interface ProgramOutput extends Socket {
  /**
   * Like listening to `data`, but for a listener that is done with a piece when it returns, so that we need not copy
   * it.
   */
  lend(listener: (piece: Buffer) => void): void;
}

/** `descriptor` is the end of a pipe. */
export function readProgramOutput(descriptor: number): ProgramOutput {
  let borrow: ((piece: Buffer) => void) | undefined;
  const reading = readingThrough((piece) => {
    // What waits in the stream comes first.
    if (borrow === undefined || !socket.readableFlowing || socket.readableLength > 0)
      return socket.push(Buffer.from(piece));
    borrow(piece);
    return true;
  });
  const socket: Socket = new Socket({ fd: descriptor, readable: true, writable: false, ...reading });
  return Object.assign(socket, {
    lend(listener: (piece: Buffer) => void) {
      borrow = listener;
      socket.on('data', listener);
    },
  });
}
