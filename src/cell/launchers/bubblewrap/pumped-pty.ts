/** A terminal inside the cell whose bytes come and go through two pipes. */
import type { Socket } from 'node:net';
import type { ExitStatus, LaunchedPty } from '../launcher.js';

export function pumpedPty(parts: {
  pid: number;
  exited: Promise<ExitStatus>;
  input: Socket;
  output: Socket;
  /** A separate process does it; settles when it has finished. */
  resize(columns: number, rows: number): Promise<void>;
  hangUp(): void;
}): LaunchedPty {
  const { pid, input, output } = parts;
  let onEnd = (): void => {};
  /** Input that follows a new size must find that size. */
  let resized = Promise.resolve();
  let resizing = 0;
  const type = (data: string | Buffer) =>
    new Promise<void>((taken) => {
      if (input.writable) input.write(data, () => taken());
      else taken();
    });
  const ended = new Promise<void>((resolve) => {
    output.once('close', () => {
      input.destroy();
      onEnd();
      resolve();
    });
  });

  return {
    pid,
    // The pump has ended by then, so the pipe holds all remaining output. Deliver it before reporting the end, unless
    // the reader asked to wait.
    exited: parts.exited.then(async (status) => {
      if (output.readableFlowing) await ended;
      return status;
    }),
    onData(listener) {
      output.on('data', listener);
    },
    onEnd(listener) {
      onEnd = listener;
      if (output.closed) listener();
    },
    write: (data) => (resizing === 0 ? type(data) : resized.then(() => type(data))),
    resize(columns, rows) {
      if (output.destroyed) return;
      resizing++;
      resized = Promise.all([resized, parts.resize(columns, rows)]).then(() => {
        resizing--;
      });
    },
    pause: () => void output.pause(),
    resume: () => void output.resume(),
    close() {
      if (!output.destroyed) parts.hangUp();
      output.destroy();
    },
  };
}
