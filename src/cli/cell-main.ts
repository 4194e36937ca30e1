/** The program of a cell: what the command line offers of it, without the rest, so that it fits in one bundled file. */

/** Every cell waits for it, so nothing is loaded that it does without. */
async function main([command, operand = '']: readonly string[]): Promise<void> {
  if (command === 'cell') return (await import('../cell/server/cell.js')).serveCell(operand);
  if (command === 'relay') return (await import('../cell/server/relay.js')).relay(operand);
  const { executorCommand } = await import('./commands/executor.js');
  const executor = executorCommand()
    .exitOverride()
    .configureOutput({ outputError: () => {} });
  const { Command } = await import('commander');
  const program = new Command('workcell').exitOverride().configureOutput({ outputError: () => {} });
  await program.addCommand(executor).parseAsync();
}

main(process.argv.slice(2)).catch(async (error: unknown) => {
  const { CommanderError } = await import('commander');
  if (error instanceof CommanderError && error.exitCode === 0) process.exit(0);
  const { reportFailure } = await import('./report.js');
  process.exit(await reportFailure(error, false));
});
