import { fstatSync } from 'node:fs';
import { isatty } from 'node:tty';
import { Command, Option } from 'commander';
import { collectVariable, parseSeconds } from '../../base/command-line.js';
import { noNetworkHint } from '../../base/no-network.js';
import { quote } from '../../base/shell-quote.js';
import type { Observation, Runtime } from '../../index.js';
import { type CellOptions, withCellOptions } from '../cell-options.js';
import { openOutput } from '../command-output.js';
import { watchInterrupts } from '../interrupts.js';
import { rulesOption } from '../trusted-options.js';

export interface RunCommandOptions extends CellOptions {
  session?: string;
  cwd?: string;
  timeout?: number;
  noChangeTimeout?: number;
  json?: true;
  apply?: true;
  guard?: 'rules';
  rules: string[];
  confirm?: true;
}

const examples = `
One argument is shell source; several are a program and its arguments, exactly
as you give them. You see output as it comes, stdout and stderr as one, as on a
terminal. The first Ctrl-C goes to the command, the second one gives up.

What you pipe into it, or a file as its standard input, goes to the command,
which then runs without a terminal; its stdout and stderr stay apart. In a kept
cell, in a named session, with --json or --no-change-timeout it gets an empty
standard input instead. For a program that asks you, use "workcell shell".

Exit code: that of the command; 128+n after signal n; 124 after a timeout;
130 when you give up; 77 when the policy refuses.

Examples:
  $ workcell run 'make && make test'
  $ workcell run 'jq .name' < package.json
  $ workcell run --workspace . --timeout 60 npm test
  $ workcell run --backend local --keep-alive 'cd /tmp; export A=1'
  $ workcell run --attach 3f9a 'pwd; echo $A'
  $ workcell run --overlay --apply 'npm update && npm test'
  $ workcell run --guard rules --confirm 'rm -rf build'
  $ workcell run --backend cli --json 'uname -a' | jq -r .output`;

/** `workcell run`: one command in a fresh cell. */
export function runCommand(): Command {
  return withCellOptions(new Command('run').description('Run one command in a fresh cell'), { env: false })
    .argument('<command...>', 'shell source, or a program and its arguments')
    .option('--session <name>', 'the shell session to run it in (default: default)')
    .option('--cwd <directory>', 'working directory inside the cell (default: the workspace)')
    .option('-e, --env <NAME=value>', 'set a variable of the command; may be repeated', collectVariable)
    .option('-t, --timeout <seconds>', 'end the command and all it started after this time', parseSeconds)
    .addOption(noChangeTimeout())
    .addOption(
      new Option('--guard <guard>', 'judge the command first and refuse a risky one').choices(['rules']),
    )
    .option(
      '--overlay',
      'leave the workspace untouched, and keep what the command changes for diff, apply and discard',
    )
    .option('--apply', 'with --overlay: take the changes over when the command succeeds')
    .option('--confirm', 'show the risk of a risky command and ask you; refuse without a terminal')
    .addOption(rulesOption())
    .option('--json', 'print the observation as one line of JSON instead of the output')
    .usage('[options] <command...>')
    .passThroughOptions()
    .addHelpText('after', examples)
    .action(run);
}

/** The name begins like the negation of an option, and is none. */
function noChangeTimeout(): Option {
  const option = new Option(
    '--no-change-timeout <seconds>',
    'end the command when it prints nothing for this time',
  );
  option.negate = false;
  return option.argParser(parseSeconds);
}

async function run(words: string[], options: RunCommandOptions): Promise<void> {
  const { exitCodeOf } = await import('../command-exit-code.js');
  const { startRuntime } = await import('../start-runtime.js');
  const piped = takesInput(options) ? await import('../piped-run.js') : undefined;
  using interrupts = watchInterrupts();
  const { runtime, log, end } = await startRuntime(
    // Here these are variables of the command, not of the cell.
    { ...options, env: undefined },
    interrupts.signal,
    { ...(await judge(options)), runsOnly: true },
  );
  const finish = await finisher(runtime, options);
  if (piped !== undefined) {
    const code = piped.runPiped(runtime, toShellSource(words), options, interrupts);
    process.exitCode = await code.then(finish).finally(end);
    return;
  }
  const output = options.json ? undefined : openOutput(() => interrupts.abort(141));
  let observation: Observation<'run'>;
  let exitCode: number;
  try {
    const { session } = options;
    const running = runtime.run(toShellSource(words), {
      session,
      cwd: options.cwd,
      env: options.env,
      timeoutMs: options.timeout,
      noChangeTimeoutMs: options.noChangeTimeout,
      // Asking the stream would open one.
      emptyStdin: !isatty(0),
      ...terminalSize(),
      // Without a shell session left to ask for the rest, the line carries all it can.
      ...(output === undefined
        ? { maxOutputBytes: 16_777_216 }
        : { maxOutputBytes: 256, onOutput: output.write }),
      signal: interrupts.signal,
    });
    interrupts.forward(() => runtime.run('C-c', { input: true, session }));
    observation = await running;
    const cancelled = observation.endedBy === 'cancelled' ? interrupts.exitCode() : undefined;
    exitCode = await finish(cancelled ?? exitCodeOf(observation));
  } finally {
    output?.end();
    await end();
  }
  const { notice } = observation;
  if (notice !== undefined) log('warn', notice);
  if (options.json) {
    const kept = options.keepAlive && { cell: runtime.id };
    process.stdout.write(`${JSON.stringify({ ...observation, ...kept })}\n`);
  }
  explain(observation);
  hint(runtime, observation, output?.tail() ?? observation.output);
  process.exitCode = exitCode;
}

/** Takes the exit code of the command and returns that of this program. */
async function finisher(
  runtime: Runtime,
  { overlay, apply, workspace = process.cwd() }: RunCommandOptions,
): Promise<(code: number) => Promise<number>> {
  if (overlay === undefined) return async (code) => code;
  const { finishOverlay } = await import('../overlay-run.js');
  return async (code) =>
    (await finishOverlay(runtime, workspace, { apply: apply === true, succeeded: code === 0 })) ?? code;
}

/** Whether a program or a file feeds this one, and the command needs no shell that keeps its state. */
function takesInput(options: RunCommandOptions): boolean {
  const { session, keepAlive, attach, json, noChangeTimeout } = options;
  if ([session, keepAlive, attach, json, noChangeTimeout].some((option) => option !== undefined))
    return false;
  try {
    const kind = fstatSync(0);
    return kind.isFIFO() || kind.isFile() || kind.isSocket();
  } catch {
    return false;
  }
}

/** The size of the terminal that shows the output, within the limits of a session. */
function terminalSize() {
  const { isTTY, columns, rows } = process.stdout;
  if (!isTTY || !(columns >= 2) || !(rows >= 2)) return {};
  return { size: { columns: Math.min(columns, 1000), rows: Math.min(rows, 1000) } };
}

/** A question needs rules that judge first. */
async function judge({ guard, confirm, rules: extend }: RunCommandOptions) {
  if (guard === undefined && confirm === undefined) return {};
  const { rules } = await import('../../runtime/security/analyzers/rules.js');
  const { terminalPolicy } = await import('../terminal-policy.js');
  return { guards: [rules({ extend })], policy: terminalPolicy(confirm === true) };
}

/** A single word is source already; quote several, so that the shell passes exactly those to the program. */
function toShellSource(words: readonly string[]): string {
  const [only = '', ...others] = words;
  if (others.length === 0) return only;
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : quote(word))).join(' ');
}

type Ending = Pick<Observation<'run'>, 'endedBy' | 'durationMs' | 'exitCode'>;

/** Says why, when a command did not end by itself. */
export function explain({ endedBy, durationMs }: Ending): void {
  const reason = {
    timeout: `the command was ended after ${(durationMs / 1000).toFixed(1)} s, its time limit`,
    'no-change': 'the command printed nothing for too long and was ended',
    oom: 'the command ran out of memory and was killed',
    killed: 'the command was killed together with its shell',
    lost: 'the cell died while the command ran',
    'output-limit': 'the command printed more than its limit and was ended',
    cancelled: undefined,
    exit: undefined,
  }[endedBy];
  if (reason !== undefined) process.stderr.write(`workcell: ${reason}\n`);
}

/** A download that fails looks like a fault of the other side. */
export function hint({ isolation }: Runtime, { exitCode }: Ending, printed: string): void {
  const found = exitCode === 0 ? undefined : noNetworkHint(isolation, printed);
  if (found === undefined) return;
  process.stderr.write(`workcell: ${found}; --allow <rule> lets it reach what you name\n`);
}
