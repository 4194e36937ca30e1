import { Command } from 'commander';
import type { ProcessInfo } from '../../protocol/index.js';
import { inKeptCell, type KeptCellOptions, withKeptCellOptions } from '../in-kept-cell.js';
import { plainText } from '../sanitize.js';

const notes = `
Lists what actions started in the background, with what has ended. "workcell run --attach CELL ps aux" shows every process.

Examples:
  $ workcell ps 3f9a`;

/** `workcell ps`: background processes of a kept cell. */
export function psCommand(): Command {
  return withKeptCellOptions(new Command('ps').description('List background processes of a kept cell'))
    .argument('<cell>', 'its id, or the beginning of it')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', notes)
    .action(list);
}

async function list(cell: string, options: KeptCellOptions & { json?: true }): Promise<void> {
  const { processes } = await inKeptCell(cell, options, (runtime) =>
    runtime.execute({ action: 'list_processes' }),
  );
  if (options.json) {
    process.stdout.write(`${JSON.stringify(processes)}\n`);
    return;
  }
  const { age, formatTable } = await import('../text-table.js');
  const row = ({ id, pid, running, exitCode, signal, startedAt, argv }: ProcessInfo) =>
    [
      id,
      running ? String(pid) : '-',
      running ? 'running' : `ended, ${signal ?? exitCode}`,
      age(Date.now() - startedAt),
      argv.join(' '),
    ].map(plainText);
  process.stdout.write(
    `${formatTable(['PROCESS', 'PID', 'STATUS', 'AGE', 'COMMAND'], processes.map(row))}\n`,
  );
}
