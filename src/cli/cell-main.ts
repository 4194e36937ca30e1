/** The program of a cell: what the command line offers of it, without the rest, so that it fits in one bundled file. */
import { Command, CommanderError } from 'commander';
import { executorCommand } from './commands/executor.js';
import { reportFailure } from './report.js';

const program = new Command('workcell').exitOverride().configureOutput({ outputError: () => {} });
program.addCommand(
  executorCommand()
    .exitOverride()
    .configureOutput({ outputError: () => {} }),
);
program
  .command('cell <settings>')
  .action(async (file: string) => (await import('../executor/server/cell.js')).serveCell(file));
program
  .command('relay <socket>')
  .action(async (socket: string) => (await import('../executor/server/relay.js')).relay(socket));

program.parseAsync().catch(async (error: unknown) => {
  if (error instanceof CommanderError && error.exitCode === 0) process.exit(0);
  process.exit(await reportFailure(error, false));
});
