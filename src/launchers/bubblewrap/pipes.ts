/** Named pipes in the exchange directory that a process in the cell opens as its input and output. */
import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { makeFifo } from '../fifo.js';
import { removeFile } from '../scratch.js';
import { exchangeInside } from './layout.js';

export interface Pipe {
  /** Path as seen from inside. */
  readonly inside: string;
  /** This side's end. */
  readonly stream: Socket;
  /** To be called when the process has opened its end: from then on the stream ends with the last holder of it. */
  settle(): void;
  /** Gives everything up. */
  discard(): void;
}

/** A pipe that the cell reads (`in`) or writes (`out`). */
export async function openPipe(exchange: string, name: string, direction: 'in' | 'out'): Promise<Pipe> {
  const path = join(exchange, name);
  await makeFifo(path);
  const quiet = constants.O_NONBLOCK;
  // Both ends are held until the process has its own: without a reader a pipe cannot be opened for writing, and
  // without a writer it looks as if it had ended.
  const reader = openSync(path, constants.O_RDONLY | quiet);
  const writer = openSync(path, constants.O_WRONLY | quiet);
  const [own, other] = direction === 'in' ? [writer, reader] : [reader, writer];
  const stream = new Socket({ fd: own, readable: direction === 'out', writable: direction === 'in' });
  // A process that ended without reading its input is no error of ours.
  stream.on('error', () => {});
  let settled = false;

  function settle() {
    if (settled) return;
    settled = true;
    closeSync(other);
    removeFile(path);
  }
  return {
    inside: `${exchangeInside}/${name}`,
    stream,
    settle,
    discard() {
      settle();
      stream.destroy();
    },
  };
}
