/** Live terminals: a program on a terminal of its own, for a person or a screen-reading agent. */
import { randomBytes } from 'node:crypto';
import { killTree } from '../launchers/kill-tree.js';
import type { LaunchedPty, Launcher } from '../launchers/launcher.js';
import { type Terminal, type TerminalOptions, WorkcellError } from '../protocol/index.js';
import type { Environment } from './environment.js';
import type { Tree } from './files/tree.js';
import { untilQuiet } from './processes/quiet.js';
import { workingDirectory } from './processes/working-directory.js';

/** A reader may be so far behind before the program is held back, and goes on again below the second figure. */
const highWaterBytes = 256 * 1024;
const lowWaterBytes = 64 * 1024;

const largestSide = 10_000;

export async function openTerminal(
  parts: { launcher: Launcher; environment: Environment; tree: Tree },
  options: TerminalOptions,
): Promise<Terminal> {
  const { launcher, environment, tree } = parts;
  const { columns = 80, rows = 24 } = options;
  checkSize(columns, rows);
  const cwd = workingDirectory(launcher, tree, options.cwd);
  const env = { TERM: 'xterm-256color', ...environment.all(), ...options.env };
  const place = { cwd, env, columns, rows };
  const pty = await (options.argv === undefined
    ? openShell(launcher, place)
    : launcher.openPty(options.argv, place));
  const output = new TerminalOutput(pty);
  let closing: Promise<void> | undefined;

  const finished = pty.exited.then(async () => {
    await untilQuiet(output);
    output.end();
    pty.close();
  });

  return {
    id: randomBytes(6).toString('hex'),
    output,
    exited: pty.exited,
    write: (data) => pty.write(typeof data === 'string' ? data : Buffer.from(data)),
    resize(newColumns, newRows) {
      checkSize(newColumns, newRows);
      pty.resize(newColumns, newRows);
    },
    close() {
      closing ??= (async () => {
        output.drop();
        await killTree(launcher, [pty.pid], 'SIGKILL');
        pty.close();
        await finished;
      })();
      return closing;
    },
  };
}

async function openShell(
  launcher: Launcher,
  options: Parameters<Launcher['openPty']>[1],
): Promise<LaunchedPty> {
  try {
    return await launcher.openPty(['bash', '-i'], options);
  } catch (error) {
    if (!WorkcellError.isInstance(error) || error.code !== 'shell-missing') throw error;
    return launcher.openPty(['sh', '-i'], options);
  }
}

function checkSize(columns: number, rows: number): void {
  const fits = (side: number) => Number.isInteger(side) && side >= 1 && side <= largestSide;
  if (fits(columns) && fits(rows)) return;
  throw new WorkcellError(
    'invalid-action',
    `A terminal of ${columns} columns and ${rows} rows cannot be made; both must be whole numbers from 1 to ${largestSide}.`,
    { details: { columns, rows } },
  );
}

/** Holds what the one reader has not taken yet, and holds the program back when that becomes too much. */
class TerminalOutput implements AsyncIterable<Uint8Array> {
  receivedBytes = 0;
  closed = false;
  held: Promise<void> | undefined;

  readonly #pty: LaunchedPty;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #release = (): void => {};
  #wake = (): void => {};
  #ended = false;
  #dropped = false;

  constructor(pty: LaunchedPty) {
    this.#pty = pty;
    pty.onData((chunk) => this.#receive(chunk));
    pty.onEnd(() => {
      this.closed = true;
      this.#unhold();
    });
  }

  /** Nothing more comes. What is queued can still be read. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Takes no more, and forgets what is queued, so that the program is not held back. */
  drop(): void {
    this.#dropped = true;
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#unhold();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = this.#queue.shift();
        if (chunk !== undefined) {
          this.#queuedBytes -= chunk.length;
          if (this.#queuedBytes <= lowWaterBytes) this.#unhold();
          yield chunk;
        } else if (this.#ended) return;
        else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
    } finally {
      // A reader that leaves early must not stop the program.
      this.drop();
    }
  }

  #receive(chunk: Buffer): void {
    this.receivedBytes += chunk.length;
    if (this.#dropped) return;
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length;
    this.#wake();
    if (this.#queuedBytes < highWaterBytes) return;
    this.#pty.pause();
    this.held ??= new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  #unhold(): void {
    if (this.held === undefined) return;
    this.held = undefined;
    this.#release();
    this.#pty.resume();
  }
}
