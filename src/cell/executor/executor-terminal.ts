/** Live terminals: a program on its own terminal, for a person or a screen-reading agent. */
import { randomBytes } from 'node:crypto';
import { ReaderQueue } from '../../base/reader-queue.js';
import { type Terminal, type TerminalOptions, WorkcellError } from '../../protocol/index.js';
import { killTree } from '../launchers/kill-tree.js';
import type { LaunchedPty, Launcher } from '../launchers/launcher.js';
import type { Environment } from './cell-environment.js';
import type { Tree } from './files/file-tree.js';
import { untilQuiet } from './processes/quiet.js';
import { workingDirectory } from './processes/working-directory.js';

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
    `A terminal cannot have ${columns} columns and ${rows} rows; give whole numbers from 1 to ${largestSide}.`,
    { details: { columns, rows } },
  );
}

/** Holds a program's output for its one reader, and knows when the program has printed everything. */
class TerminalOutput extends ReaderQueue {
  receivedBytes = 0;
  closed = false;

  constructor(pty: LaunchedPty) {
    super(pty);
    pty.onData((chunk) => {
      this.receivedBytes += chunk.length;
      this.push(chunk);
    });
    pty.onEnd(() => {
      this.closed = true;
      this.letGo();
    });
  }
}
