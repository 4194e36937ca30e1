/**
 * The pipes between this side and a program. Node itself joins them by sockets, which a program cannot open again as
 * `/dev/stdout`, and which make bash take its caller for a remote login and run start-up files.
 */
import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { makeFifo } from './fifo.js';
import { type ProgramOutput, readProgramOutput } from './program-output.js';
import { makeFleeting, removeFile } from './scratch.js';

export interface Pipes {
  /** The ends for the program: standard input, output and error. */
  readonly inner: readonly [number, number, number];
  readonly stdin: Writable;
  readonly stdout: ProgramOutput;
  readonly stderr: ProgramOutput;
  /** Call it when the program has its ends, or has failed to start. */
  closeInner(): void;
  /** Closes this side's ends, too. */
  close(): void;
}

let directory: string | undefined;
let count = 0;

export async function openPipes(): Promise<Pipes> {
  const opened: Ends[] = [];
  try {
    for (const toProgram of [true, false, false]) opened.push(await openPipe(toProgram));
  } catch (error) {
    for (const { inner, outer } of opened) for (const end of [inner, outer]) closeSync(end);
    throw error;
  }
  const [input, output, errors] = opened as [Ends, Ends, Ends];
  const stdin = new Socket({ fd: input.outer, readable: false, writable: true });
  const stdout = readProgramOutput(output.outer);
  const stderr = readProgramOutput(errors.outer);
  // A program may end while we write to it or read from it; that is no error of ours.
  for (const stream of [stdin, stdout, stderr]) stream.on('error', () => {});
  const inner = [input.inner, output.inner, errors.inner] as const;
  return {
    inner,
    stdin,
    stdout,
    stderr,
    closeInner() {
      for (const end of inner) closeSync(end);
    },
    close() {
      for (const stream of [stdin, stdout, stderr]) stream.destroy();
    },
  };
}

interface Ends {
  readonly inner: number;
  readonly outer: number;
}

async function openPipe(toProgram: boolean): Promise<Ends> {
  directory ??= makeFleeting('pipes');
  const path = join(directory, String(count++));
  await makeFifo(path);
  const { O_RDONLY, O_WRONLY, O_RDWR, O_NONBLOCK } = constants;
  // An end for reading and writing at once lets the others open without waiting for each other.
  const both = openSync(path, O_RDWR | O_NONBLOCK);
  try {
    const inner = openSync(path, toProgram ? O_RDONLY : O_WRONLY);
    const outer = openSync(path, (toProgram ? O_WRONLY : O_RDONLY) | O_NONBLOCK);
    return { inner, outer };
  } finally {
    closeSync(both);
    removeFile(path);
  }
}
