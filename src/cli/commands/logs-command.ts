import { Command } from 'commander';
import type { Action, Runtime } from '../../index.js';
import type { CommandOutput } from '../command-output.js';
import { inKeptCell, type KeptCellOptions, withKeptCellOptions } from '../in-kept-cell.js';
import { watchInterrupts } from '../interrupts.js';

const notes = `
Prints what a background process wrote: its stdout to stdout, its stderr to
stderr. "workcell ps CELL" lists the processes; name one by its id or the
beginning of it. You may leave it out when there is only one.

Examples:
  $ workcell logs 3f9a
  $ workcell logs 3f9a 51c2 --follow     until it ends, or Ctrl-C`;

/** `workcell logs`: what a background process of a kept cell printed. */
export function logsCommand(): Command {
  return withKeptCellOptions(
    new Command('logs').description('Print what a background process of a kept cell wrote'),
  )
    .argument('<cell>', 'its id, or the beginning of it')
    .argument('[process]', 'its id, or the beginning of it')
    .option('-f, --follow', 'go on until the process ends')
    .addHelpText('after', notes)
    .action(logs);
}

async function logs(
  cell: string,
  named: string | undefined,
  options: KeptCellOptions & { follow?: true },
): Promise<void> {
  const { openOutput } = await import('../command-output.js');
  using interrupts = watchInterrupts();
  const broken = () => interrupts.abort(141);
  const outputs = { stdout: openOutput(broken), stderr: openOutput(broken, process.stderr) };
  await inKeptCell(cell, options, async (runtime) => {
    const { id, outputId } = await findProcess(runtime, named);
    if (options.follow) await follow(runtime, id, outputs, interrupts.signal);
    else await printAll(runtime, outputId, outputs, interrupts.signal);
  });
  for (const output of Object.values(outputs)) output.end();
  process.exitCode = interrupts.exitCode();
}

type Outputs = Record<'stdout' | 'stderr', CommandOutput>;

async function findProcess(runtime: Runtime, named = '') {
  const all = await runtime.processes.list();
  const found = all.filter(({ id }) => id.startsWith(named));
  const only = all.find(({ id }) => id === named) ?? (found.length === 1 ? found[0] : undefined);
  if (only !== undefined) return only;
  const { WorkcellError } = await import('../../protocol/errors.js');
  const which = named === '' ? '' : ` ${JSON.stringify(named)}`;
  const problem =
    found.length === 0
      ? `The cell has no background process${which}`
      : `The cell has ${found.length} background processes${named === '' ? '' : ` that begin with${which}`}`;
  throw new WorkcellError(
    'process-not-found',
    `${problem}; "workcell ps CELL" lists them. Name one by its id.`,
    {
      details: { id: named },
    },
  );
}

async function follow(runtime: Runtime, id: string, outputs: Outputs, signal: AbortSignal): Promise<void> {
  try {
    await runtime.processes.wait(id, {
      signal,
      maxOutputBytes: 256,
      onOutput: ({ stream, text }) => outputs[stream === 'stderr' ? 'stderr' : 'stdout'].write({ text }),
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function printAll(
  runtime: Runtime,
  outputId: string,
  outputs: Outputs,
  signal: AbortSignal,
): Promise<void> {
  const { printKept } = await import('../kept-output.js');
  const kept = {
    read: (action: Action<'read_output'>) => runtime.execute(action),
    write: (stream: keyof Outputs, text: string) => outputs[stream].write({ text }),
    onGap: (bytes: number) => void process.stderr.write(`workcell: ${bytes} bytes are no longer kept\n`),
  };
  await printKept(outputId, kept, signal);
}
