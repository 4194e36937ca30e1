/**
 * A terminal on this side, with a program on it. The native module loads with the first terminal and only opens the
 * pair of ends: its own way to start a program forks this whole process, loses output at the end and reports the end late.
 */
import { closeSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { ReadStream } from 'node:tty';
import { WorkcellError } from '../../protocol/index.js';
import { forgetDescriptor, hideDescriptor } from './inheritance.js';
import { Keyboard } from './keyboard.js';
import type { ExitStatus, LaunchedPty, PtyOptions } from './launcher.js';
import { readingThrough } from './program-output.js';
import { spawnFailure, spawnObstacle } from './spawn-failure.js';
import { spawnOn } from './spawn-on.js';

/** Something that can keep this process alive, or not. */
export interface Referenced {
  ref(): void;
  unref(): void;
}

interface NativePty {
  open(columns: number, rows: number): { master: number; slave: number; pty: string };
  resize(descriptor: number, columns: number, rows: number): void;
}

const require = createRequire(import.meta.url);

/** A terminal holds less than this, so one look that reads as much has seen all that was there. */
const terminalBytes = 256 * 1024;

/** Opening the terminal by its name, as the leader of a new session, makes it the controlling one. */
const takeTerminal = 'exec "$@" <>"$0"';

/** `prefix` is a program that becomes the requested one, and must be ready before it opens the terminal. */
export async function spawnPty(
  argv: readonly string[],
  options: PtyOptions,
  prefix: readonly string[] = [],
): Promise<LaunchedPty> {
  // A shell starts the program, and its own start succeeds, so find obstacles before.
  const obstacle = spawnObstacle(argv, options);
  if (obstacle !== undefined) throw obstacle;
  const { master, slave, name } = openPair(options.columns, options.rows);
  try {
    const { pid, exited, channel } = await spawnOn(
      [slave, slave, slave, ...(options.channel ? (['channel'] as const) : [])],
      [...prefix, '/bin/sh', '-c', takeTerminal, name, ...argv],
      {
        cwd: options.cwd,
        env: { ...options.env, PWD: options.cwd },
      },
    );
    const pty = attachMaster(master, pid, exited);
    // Some programs close their files before they end. The terminal must not hang up on them then, which kills.
    void pty.exited.then(() => closeEnd(slave));
    return { ...pty, channel };
  } catch (error) {
    for (const end of [master, slave]) closeEnd(end);
    throw spawnFailure(argv, options, error as NodeJS.ErrnoException);
  }
}

/** Opens the two ends of a terminal. Close each with `closeEnd`, or pass it to `attachMaster`. */
export function openPair(columns: number, rows: number): { master: number; slave: number; name: string } {
  const { master, slave, pty: name } = loadNative().open(columns, rows);
  hideDescriptor(master);
  hideDescriptor(slave);
  return { master, slave, name };
}

export function closeEnd(descriptor: number): void {
  closeSync(descriptor);
  forgetDescriptor(descriptor);
}

/** The terminal of a program that runs on its other end. */
export function attachMaster(
  master: number,
  pid: number,
  exited: Promise<ExitStatus>,
): LaunchedPty & Referenced {
  const forget = hideDescriptor(master);
  const socket: ReadStream = new ReadStream(
    master,
    readingThrough((piece) => socket.push(Buffer.from(piece))),
  );
  let closed = false;
  let onData = (_chunk: Buffer): void => {};
  let onEnd = (): void => {};

  socket.pause();
  const keyboard = new Keyboard(master, () => !socket.destroyed);
  socket.on('data', (chunk) => {
    onData(chunk);
    keyboard.tryNow();
  });
  // The stream takes a hang-up for the end, although a terminal hands out its content in small pieces.
  socket.once('end', () => drain(master, onData));
  // Reading from a terminal that no process holds open fails; that is its end.
  socket.on('error', () => {});
  socket.once('close', () => {
    closed = true;
    keyboard.giveUp();
    forget();
    onEnd();
  });

  return {
    pid,
    exited: exited.then((status) => {
      // Deliver the program's output before reporting its end, even while others keep the terminal open. A paused
      // reader asked to wait; for it the rest stays in the terminal.
      if (!socket.destroyed && !socket.readableEnded && socket.readableFlowing)
        drain(master, (chunk) => socket.push(chunk));
      return status;
    }),
    onData(listener) {
      onData = listener;
      socket.resume();
    },
    onEnd(listener) {
      onEnd = listener;
      if (closed) listener();
    },
    write: (data) => keyboard.type(data),
    resize(columns, rows) {
      if (!socket.destroyed) resizeMaster(master, columns, rows);
    },
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    close: () => void socket.destroy(),
    ref: () => void socket.ref(),
    unref: () => void socket.unref(),
  };
}

/** Tells the terminal behind an open end its size. */
export function resizeMaster(master: number, columns: number, rows: number): void {
  loadNative().resize(master, columns, rows);
}

/** Reads the current content of the terminal, without waiting. */
function drain(master: number, deliver: (chunk: Buffer) => void): void {
  for (let total = 0; total < terminalBytes; ) {
    const chunk = Buffer.allocUnsafe(4096);
    let length: number;
    try {
      length = readSync(master, chunk);
    } catch {
      // The terminal has nothing now, or no process holds it open.
      return;
    }
    if (length === 0) return;
    total += length;
    deliver(chunk.subarray(0, length));
  }
}

let native: NativePty | undefined;

function loadNative(): NativePty {
  native ??= requireNative();
  return native;
}

function requireNative(): NativePty {
  const platform = `${process.platform}-${process.arch}`;
  try {
    // The binary is a dependency of that package, so look for it from there.
    const fromPackage = createRequire(require.resolve('@lydell/node-pty'));
    return fromPackage(`@lydell/node-pty-${platform}/pty.node`) as NativePty;
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const trouble = code === 'MODULE_NOT_FOUND' ? 'is not installed' : `cannot be loaded: ${message}`;
    throw new WorkcellError(
      'capability-unsupported',
      `Workcell cannot open a terminal: the optional package @lydell/node-pty-${platform} ${trouble}.`,
      { cause },
    );
  }
}
