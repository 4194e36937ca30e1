import { constants } from 'node:os';
import { Command } from 'commander';
import type { Terminal } from '../../index.js';
import { type CellOptions, withCellOptions } from '../cell-options.js';
import { watchInterrupts } from '../interrupts.js';
import { untilFree } from '../terminal-hold.js';

interface ShellCommandOptions extends CellOptions {
  cwd?: string;
}

const notes = `
Connects your terminal as ssh does: programs in the cell may set its title or
its clipboard. End the shell with "exit" or Ctrl-D; workcell exits with its
code.

Examples:
  $ workcell shell
  $ workcell shell --backend cli --workspace .
  $ workcell shell --attach 3f9a`;

/** `workcell shell`: this terminal, inside a cell. */
export function shellCommand(): Command {
  return withCellOptions(new Command('shell').description('Open a terminal inside a fresh cell'))
    .option('--cwd <directory>', 'directory to start in, inside the cell (default: the workspace)')
    .addHelpText('after', notes)
    .action(shell);
}

async function shell(options: ShellCommandOptions): Promise<void> {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY) {
    const { WorkcellError } = await import('../../protocol/errors.js');
    throw new WorkcellError(
      'capability-unsupported',
      'workcell shell needs a terminal on standard input and output. Use workcell run for a single command.',
    );
  }
  const { startRuntime } = await import('../start-runtime.js');
  using interrupts = watchInterrupts();
  const { runtime, end } = await startRuntime(options, interrupts.signal);
  try {
    const terminal = await runtime.terminals.open({
      cwd: options.cwd,
      columns: stdout.columns,
      rows: stdout.rows,
    });
    interrupts.signal.addEventListener('abort', () => void terminal.close());
    const { exitCode, signal } = await connect(terminal, stdin, stdout);
    process.exitCode =
      interrupts.exitCode() ?? exitCode ?? 128 + (signal === null ? 0 : signalNumber(signal));
  } finally {
    await end();
  }
}

/** Joins two terminals until the program on the far one ends. */
async function connect(terminal: Terminal, stdin: NodeJS.ReadStream, stdout: NodeJS.WriteStream) {
  // Text typed while a question is open is its answer.
  const onInput = (data: Buffer) => {
    if (untilFree() === undefined) void terminal.write(data);
  };
  const onResize = () => terminal.resize(stdout.columns, stdout.rows);
  const onHangUp = () => void terminal.close();
  stdin.setRawMode(true);
  stdin.on('data', onInput);
  stdin.on('end', onHangUp);
  stdout.on('resize', onResize);
  try {
    for await (const chunk of terminal.output) {
      while (untilFree() !== undefined) await untilFree();
      if (!stdout.write(chunk)) await new Promise((resolve) => stdout.once('drain', resolve));
    }
    return await terminal.exited;
  } finally {
    stdout.off('resize', onResize);
    stdin.off('end', onHangUp);
    stdin.off('data', onInput);
    stdin.setRawMode(false);
    stdin.pause();
  }
}

function signalNumber(name: string): number {
  return (constants.signals as Partial<Record<string, number>>)[name] ?? 0;
}
