/**
 * The first process of a cell: a bash that starts the others, so that they inherit namespaces, filter and missing
 * capabilities. It reads requests, which are shell source, from its input. Each request runs in its own process,
 * which stays until the program has ended and then reports how. A request marked `here` runs in the first process
 * itself.
 *
 * Descriptors: 0 requests, 3 reports. Both are pipes that it opens itself, so that the process file system of the
 * cell reveals nothing of this machine through them.
 *
 * Why you can believe a report: a program in the cell would have to write to the pipe of the reports. Its name
 * disappears before any program runs, and only processes hold it that programs may not look into (`unreadable.ts`):
 * this bash and its forks. They close it for whatever they execute, except `script`, which programs may not look into
 * either. And each report names its request by a key that only that request got.
 */
import { quote } from '../../../base/shell-quote.js';
import { controlInside, reportsFile, requestsFile, terminalInside } from './layout.js';

/** What the relay itself starts with: without a home and a shell, bash looks its user up before it does anything else. */
export const relayVariables = ['PATH', 'HOME', 'SHELL'] as const;

/**
 * The programs that hold the pipe of the reports or a channel, as paths in the cell. Use paths, because the variables
 * of a program may have a search path in which a program of the cell has the same name.
 */
export const bashInside = `${controlInside}/bash`;
const scriptInside = `${controlInside}/script`;
const setsidInside = `${controlInside}/setsid`;

const haltRounds = 32;

/** Reads requests until this side ends. `setup` runs first. */
export function relaySource(setup: string): string {
  const [requests, reports] = [`${controlInside}/${requestsFile}`, `${controlInside}/${reportsFile}`];
  return [
    // Opening one end waits for the other, for ever if the owner has already ended. With both ends open for a moment
    // it does not wait, and reading then finds the end.
    `exec 4<>${requests} 0<${requests} 4>&- 5<>${reports} 3>${reports} 5>&- 1>/dev/null 2>/dev/null`,
    // Ignore these here and reset them in each request: as first process, a bash without handlers would be safe, but
    // one with handlers is not.
    "trap '' HUP INT QUIT TERM USR1 USR2 PIPE ALRM",
    // Descriptors that this side's own parent left open would otherwise reach every process.
    'for name in /proc/self/fd/*; do name=${name##*/}; [[ $name -gt 3 ]] && eval "exec $name>&-"; done',
    setup,
    "printf 'ready\\n' >&3",
    'while read -r length where && IFS= read -r -N "$length" request; do',
    'if [[ $where ]]; then eval "$request"; else ( eval "$request" ) & fi; request=; done',
  ].join('\n');
}

/** A request as the relay reads it: its length in bytes, which are what it counts, and then itself. */
export function requestMessage(source: string, where: 'apart' | 'here' = 'apart'): string {
  return `${Buffer.byteLength(source)}${where === 'here' ? ' here' : ''}\n${source}`;
}

export interface Start {
  /** Identifies its reports. */
  readonly key: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The limit that identifies its processes. */
  readonly mark: number;
  /** A pipe that the program gets as descriptor 3. */
  readonly channel?: string | undefined;
}

/** A program on three pipes, in its own process group. */
export function pipedRequest(start: Start, pipes: { stdin: string; stdout: string; stderr: string }): string {
  return request(start, 'set -m', [
    `exec 0<${quote(pipes.stdin)} 1>${quote(pipes.stdout)} 2>${quote(pipes.stderr)}`,
    reportStart(start.key),
    'exec 3>&-',
    ...become(start, []),
  ]);
}

/** A program that leads a session on the cell's own terminal. */
export function terminalRequest(start: Start): string {
  return request(start, 'set +m', [
    `exec 0<>${terminalInside} 1>&0 2>&0`,
    ...openChannel(start),
    reportStart(start.key),
    giveChannel(start),
    // It does not lead its group, so it stays the same process.
    ...become(start, [setsidInside, '-c']),
  ]);
}

/**
 * A program on a terminal that `script` makes and pumps. What to do on that terminal comes through a pipe, so that no
 * file, argument or variable of a process reveals it.
 */
export function scriptRequest(
  start: Start,
  pipes: { stdin: string; stdout: string },
  size: { columns: number; rows: number },
): string {
  const onTerminal = [
    `stty cols ${size.columns} rows ${size.rows} 3>&- 4<&- 5<&-`,
    `printf 'start ${start.key} %d %s\\n' $$ "$(tty 3>&- 4<&- 5<&-)" >&3`,
    giveChannel(start),
    'exec 5<&-',
    ...become(start, []),
  ].join('\n');
  return request(start, 'set +m', [
    `exec 0<${quote(pipes.stdin)} 1>${quote(pipes.stdout)}`,
    ...openChannel(start),
    // Runs as an orphan: `script` would mistake the end of a child for the end of the program.
    `exec 5< <(exec 3>&- 4<&-; printf %s ${quote(onTerminal)} &); wait $!`,
    `printf 'pump ${start.key} %d\\n' $BASHPID >&3`,
    `SHELL=${bashInside} exec ${scriptInside} -q -e -f -E always -c '. /dev/fd/5' /dev/null`,
  ]);
}

/** Tells a terminal that `script` made its new size. */
export function resizeRequest(key: string, terminal: string, columns: number, rows: number): string {
  return [
    `stty -F ${quote(terminal)} cols ${columns} rows ${rows} 3>&-`,
    `printf 'fail ${key} done\\n' >&3`,
  ].join('\n');
}

/**
 * Stops everything but the first process. That process has to do it itself, because then "everything" means its
 * namespace. The kernel takes one lock for all of them, and stops a process that forks meanwhile together with its
 * child. A program that is resuming others at this moment can undo it, so repeat it: once all have stopped, none is
 * left to resume them.
 */
export function haltRequest(key: string): string {
  return `for key in {1..${haltRounds}}; do kill -STOP -- -1; done; printf 'fail ${key} done\\n' >&3`;
}

export type ReportLine =
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'start';
      readonly key: string;
      readonly pid: number;
      readonly terminal: string | undefined;
    }
  | { readonly kind: 'pump'; readonly key: string; readonly pid: number }
  | { readonly kind: 'fail'; readonly key: string; readonly reason: string }
  /** How a job ended, in the words of bash: `Exit` and `Done` tell an exit from a signal with the same status. */
  | { readonly kind: 'job'; readonly pid: number; readonly exited: boolean }
  | { readonly kind: 'supervisor'; readonly key: string; readonly pid: number }
  | { readonly kind: 'end'; readonly key: string; readonly pid: number; readonly status: number };

/** Undefined for a line that is none of the relay's. */
export function parseReport(line: string): ReportLine | undefined {
  if (line === 'ready') return { kind: 'ready' };
  const job = /^\[1\].? +(\d+) (Done|Exit )?/.exec(line);
  if (job !== null) return { kind: 'job', pid: Number(job[1]), exited: job[2] !== undefined };
  const match = /^(start|pump|fail|supervisor|end) ([0-9a-f]+) (\S+)(?: (\S+))?$/.exec(line);
  if (match === null) return undefined;
  const [, kind, key = '', first = '', second] = match;
  if (kind === 'fail') return { kind, key, reason: first };
  const common = { key, pid: Number(first) };
  if (!Number.isSafeInteger(common.pid)) return undefined;
  if (kind === 'start') return { kind, ...common, terminal: second };
  if (kind === 'end') return { kind, ...common, status: Number(second) };
  return { kind: kind as 'pump' | 'supervisor', ...common };
}

function request(
  { key, argv: [program = ''], cwd, env }: Start,
  jobs: string,
  body: readonly string[],
): string {
  const fail = (reason: string) => `{ printf 'fail ${key} ${reason}\\n' >&3; exit; }`;
  const path = env.PATH === undefined ? '' : `PATH=${quote(env.PATH)} `;
  return [
    'trap - HUP INT QUIT TERM USR1 USR2 PIPE ALRM',
    `printf 'supervisor ${key} %d\\n' $BASHPID >&3`,
    `cd -- ${quote(cwd)} || { [ -e ${quote(cwd)} ] && ${fail('not-a-directory')}; ${fail('no-directory')}; }`,
    'workcell_program() {',
    'trap - INT QUIT CHLD',
    `${path}type -P -- ${quote(program)} || ${fail('no-program')}`,
    ...body,
    '}',
    jobs,
    "trap 'jobs -l >&3' CHLD",
    'workcell_program & wait -f $!',
    `printf 'end ${key} %d %d\\n' $! $? >&3`,
  ].join('\n');
}

function reportStart(key: string): string {
  return `printf 'start ${key} %d\\n' $BASHPID >&3`;
}

/** Open it before reporting the start, which removes its name. */
function openChannel({ channel }: Start): string[] {
  return channel === undefined ? [] : [`exec 4<${quote(channel)}`];
}

/** After this the process cannot report anything. */
function giveChannel({ channel }: Start): string {
  return channel === undefined ? 'exec 3>&-' : 'exec 3<&4 4<&-';
}

/** Set the variables only here: they could load a program into any process that executes with them. */
function become({ argv, env, mark }: Start, through: readonly string[]): string[] {
  return [
    `ulimit -x ${mark}`,
    'unset OLDPWD SHLVL HOME SHELL',
    ...Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}`),
    `exec ${[...through, ...argv.map(quote)].join(' ')}`,
  ];
}
