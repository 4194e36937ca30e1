/** The program of a cell, bundled into one file: it imports `protocol`, `cell` and `base` only. */

/** Every cell waits for it, so load nothing that it does not need. */
async function main([command, operand = '', limitMs]: readonly string[]): Promise<void> {
  if (command === 'cell') return (await import('./server/serve-cell.js')).serveCell(operand, limitMs);
  if (command === 'relay') return (await import('./server/relay.js')).relay(operand);
  const { Command } = await import('commander');
  const { executorCommand, serveThisMachine } = await import('./server/executor-command.js');
  const { logToStandardError } = await import('./server/stderr-log.js');
  const quiet = { outputError: () => {} };
  const executor = executorCommand()
    .exitOverride()
    .configureOutput(quiet)
    .action((options) => serveThisMachine(options, logToStandardError));
  await new Command('workcell').exitOverride().configureOutput(quiet).addCommand(executor).parseAsync();
}

main(process.argv.slice(2)).catch(async (error: unknown) => {
  const { CommanderError } = await import('commander');
  const { WorkcellError } = await import('../protocol/errors.js');
  if (error instanceof CommanderError && error.exitCode === 0) process.exit(0);
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`workcell: ${message}\n`);
  const code = error instanceof CommanderError ? 'invalid-action' : 'internal';
  process.exit((WorkcellError.isInstance(error) ? error : new WorkcellError(code, message)).exitCode);
});
