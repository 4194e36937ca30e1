/** What a program prints, as it comes out of a pipe or a terminal. */
import { type ConnectOpts, Socket, type SocketConstructorOpts } from 'node:net';

/**
 * Read everything into this one buffer, because a piece is handled before the next is read. Node would use a new buffer
 * of this size for each piece, and endless output makes garbage faster than it is collected.
 */
const shared = Buffer.allocUnsafeSlow(64 * 1024);

/** For the options of a socket. `take` is done with a piece when it returns, and tells whether it wants more now. */
export function readingThrough(take: (piece: Buffer) => boolean): SocketConstructorOpts & ConnectOpts {
  return { onread: { buffer: shared, callback: (length) => take(shared.subarray(0, length)) } };
}

export interface ProgramOutput extends Socket {
  /** As listening to `data`, but for a listener that is done with a piece when it returns: nothing is copied for it. */
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
