/** Named pipes in the control directory that a process in the cell opens as its input and output. */
import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { basename, join } from 'node:path';
import { makeFifo } from '../fifo.js';
import { type ProgramOutput, readProgramOutput } from '../program-output.js';
import { removeFile } from '../scratch.js';
import { controlInside } from './layout.js';

export interface Pipe<Stream extends Socket = Socket> {
  /** Path as seen from inside. */
  readonly inside: string;
  /** This side's end. */
  readonly stream: Stream;
  /** Call it when the process has opened its end: from then on the stream ends with the last holder of it. */
  settle(): void;
  /** Closes and removes everything. */
  discard(): void;
}

/** A pipe that the cell reads. */
export function openInput(control: string, name: string): Promise<Pipe> {
  return openPipe(join(control, name), ({ reader, writer }) => ({
    stream: new Socket({ fd: writer, readable: false, writable: true }),
    other: reader,
  }));
}

/** A pipe that the cell writes. */
export function openOutput(control: string, name: string): Promise<Pipe<ProgramOutput>> {
  return openPipe(join(control, name), ({ reader, writer }) => ({
    stream: readProgramOutput(reader),
    other: writer,
  }));
}

async function openPipe<Stream extends Socket>(
  path: string,
  attach: (ends: { reader: number; writer: number }) => { stream: Stream; other: number },
): Promise<Pipe<Stream>> {
  await makeFifo(path);
  const quiet = constants.O_NONBLOCK;
  // Hold both ends until the process has its own. Without a reader nothing can open the pipe for writing, and without
  // a writer the pipe looks as if it had ended.
  const reader = openSync(path, constants.O_RDONLY | quiet);
  const writer = openSync(path, constants.O_WRONLY | quiet);
  const { stream, other } = attach({ reader, writer });
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
    inside: `${controlInside}/${basename(path)}`,
    stream,
    settle,
    discard() {
      settle();
      stream.destroy();
    },
  };
}
