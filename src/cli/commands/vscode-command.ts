import { once } from 'node:events';
import { Command } from 'commander';
import { type CellOptions, withCellOptions } from '../cell-options.js';
import { watchInterrupts } from '../interrupts.js';

const notes = `
Prints the address, with the token for your browser, and stays until Ctrl-C. The cell needs code-server; "workcell plugins list" says whether it is there.

Examples:
  $ workcell vscode --workspace .`;

/** `workcell vscode`: an editor in the browser, on a fresh cell. */
export function vscodeCommand(): Command {
  return withCellOptions(new Command('vscode').description('Open VS Code in the browser, on a fresh cell'))
    .addHelpText('after', notes)
    .action(vscode);
}

async function vscode(options: CellOptions): Promise<void> {
  const { startRuntime } = await import('../start-runtime.js');
  using interrupts = watchInterrupts();
  const { runtime, end } = await startRuntime(options, interrupts.signal);
  try {
    process.stdout.write(`${await runtime.vscode.url()}\n`);
    if (!interrupts.signal.aborted) {
      // Nothing else in this program may be running meanwhile, so keep the process alive.
      const busy = setInterval(() => {}, 2 ** 30);
      await once(interrupts.signal, 'abort');
      clearInterval(busy);
    }
    process.exitCode = interrupts.exitCode();
  } finally {
    await end();
  }
}
