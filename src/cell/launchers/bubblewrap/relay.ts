/**
 * The first process of a cell: a bash that starts the others, so that they inherit namespaces, filter and missing
 * capabilities. It reads the names of request files from its input and each request runs in a process of its own,
 * which stays until the program has ended and then reports how.
 *
 * Descriptors: 0 requests, 3 reports. Both are pipes that it opens itself, so that what the process file system of the
 * cell tells of them has nothing of this machine.
 */
import { quote } from '../../../base/shell-quote.js';
import { exchangeInside, reportsFile, requestsFile, terminalInside } from './layout.js';

/** What the relay itself starts with: without a home and a shell, bash looks its user up before it does anything else. */
export const relayVariables = ['PATH', 'HOME', 'SHELL'] as const;

/** Reads requests until this side is gone. `setup` runs first. */
export function relaySource(setup: string): string {
  const [requests, reports] = [`${exchangeInside}/${requestsFile}`, `${exchangeInside}/${reportsFile}`];
  return [
    // To open one end waits for the other, for ever when the owner is gone by now. With both ends open for a moment it
    // does not, and what is read then is the end.
    `exec 4<>${requests} 0<${requests} 4>&- 5<>${reports} 3>${reports} 5>&- 1>/dev/null 2>/dev/null`,
    // Ignored here and reset in each request: a bash without handlers would be safe as first process, one with is not.
    "trap '' HUP INT QUIT TERM USR1 USR2 PIPE ALRM",
    // Descriptors that this side's own parent left open would otherwise reach every process.
    'for name in /proc/self/fd/*; do name=${name##*/}; [[ $name -gt 3 ]] && eval "exec $name>&-"; done',
    setup,
    "printf 'ready\\n' >&3",
    `while read -r name; do ( . ${exchangeInside}/"$name" ) & done`,
  ].join('\n');
}

export interface Start {
  readonly number: number;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A program on three pipes, in a process group of its own. */
export function pipedRequest(start: Start, pipes: { stdin: string; stdout: string; stderr: string }): string {
  return request(start, 'set -m', [
    `exec 0<${quote(pipes.stdin)} 1>${quote(pipes.stdout)} 2>${quote(pipes.stderr)}`,
    reportStart(start.number),
    'exec 3>&-',
    `exec ${start.argv.map(quote).join(' ')}`,
  ]);
}

/** A program that leads a session on the cell's own terminal. */
export function terminalRequest(start: Start): string {
  return request(start, 'set +m', [
    `exec 0<>${terminalInside} 1>&0 2>&0`,
    reportStart(start.number),
    'exec 3>&-',
    // Not being the leader of its group, it stays the same process.
    `exec setsid -c ${start.argv.map(quote).join(' ')}`,
  ]);
}

/** A program on a terminal that `script` makes and pumps. The second file runs on that terminal. */
export function scriptRequest(
  start: Start,
  pipes: { stdin: string; stdout: string },
  size: { columns: number; rows: number },
  file: string,
): { request: string; onTerminal: string } {
  return {
    request: request(start, 'set +m', [
      `exec 0<${quote(pipes.stdin)} 1>${quote(pipes.stdout)}`,
      `printf 'pump ${start.number} %d\\n' $BASHPID >&3`,
      `SHELL=/bin/sh exec script -q -e -f -E always -c ${quote(`exec bash --norc ${quote(file)}`)} /dev/null`,
    ]),
    onTerminal: [
      `stty cols ${size.columns} rows ${size.rows}`,
      `printf 'start ${start.number} %d %s\\n' $$ "$(tty)" >&3`,
      'exec 3>&-',
      ...environment(start.env),
      `exec ${start.argv.map(quote).join(' ')}`,
      '',
    ].join('\n'),
  };
}

/** Tells a terminal that `script` made its new size. */
export function resizeRequest(terminal: string, columns: number, rows: number): string {
  return `stty -F ${quote(terminal)} cols ${columns} rows ${rows}`;
}

export type ReportLine =
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'start';
      readonly number: number;
      readonly pid: number;
      readonly terminal: string | undefined;
    }
  | { readonly kind: 'pump'; readonly number: number; readonly pid: number }
  | { readonly kind: 'fail'; readonly number: number; readonly reason: string }
  /** How a job ended, in the words of bash: `Exit` and `Done` tell an exit from a signal with the same status. */
  | { readonly kind: 'job'; readonly pid: number; readonly exited: boolean }
  | { readonly kind: 'supervisor'; readonly number: number; readonly pid: number }
  | { readonly kind: 'end'; readonly number: number; readonly pid: number; readonly status: number };

/** Undefined for a line that is none of the relay's. */
export function parseReport(line: string): ReportLine | undefined {
  if (line === 'ready') return { kind: 'ready' };
  const job = /^\[1\].? +(\d+) (Done|Exit )?/.exec(line);
  if (job !== null) return { kind: 'job', pid: Number(job[1]), exited: job[2] !== undefined };
  const match = /^(start|pump|fail|supervisor|end) (\d+) (\S+)(?: (\S+))?$/.exec(line);
  if (match === null) return undefined;
  const [, kind, number, first = '', second] = match;
  const common = { number: Number(number), pid: Number(first) };
  if (kind === 'fail') return { kind, number: common.number, reason: first };
  if (!Number.isSafeInteger(common.pid)) return undefined;
  if (kind === 'start') return { kind, ...common, terminal: second };
  if (kind === 'end') return { kind, ...common, status: Number(second) };
  return { kind: kind as 'pump' | 'supervisor', ...common };
}

function request(
  { number, argv: [program = ''], cwd, env }: Start,
  jobs: string,
  body: readonly string[],
): string {
  const fail = (reason: string) => `{ printf 'fail ${number} ${reason}\\n' >&3; exit; }`;
  return [
    'trap - HUP INT QUIT TERM USR1 USR2 PIPE ALRM',
    `printf 'supervisor ${number} %d\\n' $BASHPID >&3`,
    `cd -- ${quote(cwd)} || { [ -e ${quote(cwd)} ] && ${fail('not-a-directory')}; ${fail('no-directory')}; }`,
    'workcell_program() {',
    'trap - INT QUIT CHLD',
    ...environment(env),
    `type -P -- ${quote(program)} || ${fail('no-program')}`,
    ...body,
    '}',
    jobs,
    "trap 'jobs -l >&3' CHLD",
    'workcell_program & wait -f $!',
    `printf 'end ${number} %d %d\\n' $! $? >&3`,
    '',
  ].join('\n');
}

function reportStart(number: number): string {
  return `printf 'start ${number} %d\\n' $BASHPID >&3`;
}

function environment(env: Readonly<Record<string, string>>): string[] {
  return [
    'unset OLDPWD SHLVL HOME SHELL',
    ...Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}`),
  ];
}
