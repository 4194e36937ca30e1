import { constants } from 'node:os';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import { parseSeconds } from '../../base/command-line.js';
import type { Observation } from '../../index.js';
import { errorTable } from '../../protocol/errors.js';
import { type CellOptions, withCellOptions } from '../cell-options.js';
import { openOutput } from '../command-output.js';
import { watchInterrupts } from '../interrupts.js';

interface CodeCommandOptions extends CellOptions {
  language: string;
  timeout?: number;
  saveMedia?: string;
  json?: true;
}

const notes = `
You see what the code prints as it comes; results, displays and errors follow.
Give "-" to read the code from standard input.

Exit code: 0, or 1 after an error in the code; 124 after a timeout; 137 when the
kernel died; 130 when you give up.

Examples:
  $ workcell code 'print(6*7)'
  $ workcell code --language javascript '[1, 2].map((n) => n * 2)'
  $ workcell code --workspace . --save-media plots - < analysis.py`;

/** `workcell code`: one code cell in a fresh cell. */
export function codeCommand(): Command {
  return withCellOptions(new Command('code').description('Run a code cell in a fresh cell'))
    .argument('<code>', 'the code, or - to read it from standard input')
    .option('-l, --language <name>', 'language, or name of a Jupyter kernel', 'python')
    .option('-t, --timeout <seconds>', 'interrupt the code after this time', parseSeconds)
    .option('--save-media <directory>', 'also write images and other media to this directory of the cell')
    .option('--json', 'print the observation as one line of JSON instead of the output')
    .addHelpText('after', notes)
    .action(code);
}

async function code(given: string, options: CodeCommandOptions): Promise<void> {
  const { startRuntime } = await import('../start-runtime.js');
  const { textOf } = await import('../../cell/plugins/jupyter/code-output-text.js');
  const source = given === '-' ? await text(process.stdin) : given;
  using interrupts = watchInterrupts();
  const { runtime, end } = await startRuntime(options, interrupts.signal);
  const output = options.json ? undefined : openOutput(() => interrupts.abort(141));
  let observation: Observation<'run_code'>;
  try {
    observation = await runtime.runCode(source, {
      language: options.language,
      timeoutMs: options.timeout,
      saveMedia: options.saveMedia,
      ...(output === undefined ? { maxOutputBytes: 16_777_216 } : { onOutput: output.write }),
      signal: interrupts.signal,
    });
    const rest = observation.outputs.filter(({ type }) => type !== 'stream' && type !== 'gap');
    if (rest.length > 0) await output?.write({ text: textOf(rest) });
  } finally {
    output?.end();
    await end();
  }
  const { endedBy, notice } = observation;
  if (options.json) process.stdout.write(`${JSON.stringify(observation)}\n`);
  if (notice !== undefined) process.stderr.write(`workcell: ${notice}\n`);
  process.exitCode = (endedBy === 'cancelled' ? interrupts.exitCode() : undefined) ?? exitCodeOf(observation);
}

function exitCodeOf({ endedBy, status }: Observation<'run_code'>): number {
  if (endedBy === 'timeout') return errorTable['timed-out'].exitCode;
  if (endedBy === 'cancelled') return errorTable.cancelled.exitCode;
  if (endedBy !== 'exit') return 128 + constants.signals.SIGKILL;
  return status === 'ok' ? 0 : 1;
}
