/**
 * What bash is told to do: wait for a command on a pipe, run it in the shell itself, and report its end on the
 * terminal, behind all that it printed.
 *
 * The loop lives in PROMPT_COMMAND of an interactive shell. So Ctrl-C behaves as a person knows it (it abandons the
 * whole command and comes back here), nothing is typed into the terminal, and variables, functions and options
 * belong to the user alone. The report is made at the head of the loop, where `continue`, an interrupt and a
 * normal end all arrive; only `break` leaves the loop, which is reported too.
 */
import { quote } from '../../../base/shell-quote.js';
import { unquote } from './unquote.js';

/** How a shell tells that the loop was left and that an empty line on the terminal brings it back. */
const leftLoop = 'left';

/** How a shell that ends tells where it was. */
const lastWords = 'exit;';

const reportPrefix = '\x1b]7777;';
const reportEnd = 0x07;

export interface Report {
  /** Which command ended; the name given to the shell itself when it has just started. */
  readonly command: string;
  readonly exitCode: number;
  /** The last process that the shell started in the background; 0 without one. */
  readonly backgroundPid: number;
  readonly cwd: string;
  /** A program left the terminal in raw mode. */
  readonly rawTerminal: boolean;
}

/**
 * The start-up file of a shell that takes its commands from the pipe at `pipe`, each as `name.number command`. One that
 * needs more, or is long, stands as `name.number@` and is in the file at `file`, as assignments.
 */
export function driverSource(name: string, pipe: string, file: string): string {
  // Opening the terminal costs more than all the rest, so it is done only when a command has sent output elsewhere.
  const report = [
    `\\builtin printf -v __workcell_report '\\e]7777;${name}.%d;%d;%d;%q\\n\\a' "$__workcell_now" "$__workcell_status" "\${!:-0}" "$PWD";`,
    `if [[ -t 1 ]]; then \\builtin printf %s "$__workcell_report"; else \\builtin printf %s "$__workcell_report" >"$__workcell_terminal"; fi;`,
  ].join(' ');
  const receive = [
    `while IFS= \\builtin read -r -d '' __workcell_next;`,
    `do case $__workcell_next in ${name}.*) \\builtin break;; esac; done <${quote(pipe)};`,
  ].join(' ');
  const loop = [
    'while { __workcell_status=${__workcell_kept:-$?} __workcell_kept= __workcell_flags=$-; set +x; } 2>/dev/null;',
    '\\builtin eval "$__workcell_after"; __workcell_before= __workcell_after=;',
    `${report} ${receive}`,
    'do',
    `__workcell_next=\${__workcell_next#${name}.} __workcell_number=\${__workcell_next%%[ @]*};`,
    // A command that was sent again because its first copy seemed lost runs once.
    'if [[ $__workcell_number -le $__workcell_now ]]; then \\builtin continue; fi;',
    '__workcell_now=$__workcell_number __workcell_command=${__workcell_next#*[ @]};',
    `case $__workcell_next in $__workcell_number@) . ${quote(file)}; \\builtin eval "$__workcell_before";; esac;`,
    'case $__workcell_flags in *x*) __workcell_command="set -x;$__workcell_command";; esac;',
    // Under `set -e` a status like that of `! true` ends nothing, but would if it became the status of `eval`.
    `case $__workcell_flags in *e*) __workcell_command+=$'\\n{ __workcell_kept=$?; } 2>/dev/null';; esac;`,
    // The command sees the status of the one before; behind `||` a status that is not 0 passes `set -e` unharmed.
    'case $__workcell_status in 0) \\builtin eval "$__workcell_command";;',
    '*) __workcell_return "$__workcell_status" || \\builtin eval "$__workcell_command";; esac;',
    'done;',
    `\\builtin printf '\\e]7777;${leftLoop}\\a' >"$__workcell_terminal"`,
  ].join(' ');
  return [
    'PS1= PS2=',
    'unset HISTFILE MAILCHECK',
    '__workcell_now=0 __workcell_after= __workcell_kept= __workcell_terminal=/dev/tty',
    // Not every kernel knows the terminal by that name; it has another one, which is dearer to find.
    '{ : >/dev/tty; } 2>/dev/null || __workcell_terminal=$(\\command readlink /proc/$$/fd/0)',
    '__workcell_return() { return "$1"; }',
    `trap ${quote(`\\builtin printf '\\e]7777;${lastWords}%q\\a' "$PWD" >"$__workcell_terminal"`)} EXIT`,
    `PROMPT_COMMAND=${quote(loop)}`,
    '',
  ].join('\n');
}

export interface Command {
  readonly source: string;
  /** Shell source for what holds for this command only, and for what takes that back. */
  readonly before: string;
  readonly after: string;
}

/** A command as the pipe carries it; bash reads that byte by byte, and it holds 64 KiB. */
export function commandRecord(
  name: string,
  number: number,
  command: Command,
): { record: string; file?: string } {
  const { source, before, after } = command;
  if (before === '' && after === '' && source.length <= 1024)
    return { record: `${name}.${number} ${source}\0` };
  const file = `__workcell_before=${quote(before)} __workcell_command=${quote(source)} __workcell_after=${quote(after)}\n`;
  return { record: `${name}.${number}@\0`, file };
}

export type Found =
  /** Everything up to `safe` is output; the rest may be the beginning of a report. */
  | { readonly kind: 'none'; readonly safe: number }
  | { readonly kind: 'left'; readonly start: number; readonly end: number }
  | { readonly kind: 'exit'; readonly start: number; readonly end: number; readonly cwd: string }
  | { readonly kind: 'report'; readonly start: number; readonly end: number; readonly report: Report };

/** Looks for a report of this shell in what came from the terminal. Its name is what a program cannot guess. */
export function findReport(data: Buffer, name: string): Found {
  let from = 0;
  while (true) {
    const start = data.indexOf(reportPrefix, from, 'latin1');
    if (start === -1) return { kind: 'none', safe: safeLength(data, from) };
    const end = data.indexOf(reportEnd, start);
    if (end === -1) {
      // A report is short; a longer run without its end is something that only looks like one.
      if (data.length - start < 32_768) return { kind: 'none', safe: start };
    } else {
      const body = data.subarray(start + reportPrefix.length, end);
      if (body.toString('latin1') === leftLoop) return { kind: 'left', start, end: end + 1 };
      if (body.subarray(0, lastWords.length).toString('latin1') === lastWords) {
        return { kind: 'exit', start, end: end + 1, cwd: unquote(body.subarray(lastWords.length)) };
      }
      const report = parseReport(body, name);
      if (report !== undefined) return { kind: 'report', start, end: end + 1, report };
    }
    from = start + reportPrefix.length;
  }
}

function parseReport(body: Buffer, name: string): Report | undefined {
  const match = /^([0-9a-f]+\.\d+);(-?\d+);(\d+);/.exec(body.subarray(0, 128).toString('latin1'));
  if (match === null) return undefined;
  const [head, command, exitCode, backgroundPid] = match;
  if (command === undefined || !command.startsWith(`${name}.`)) return undefined;
  // The report ends with a line end, which a terminal in its usual mode turns into two characters.
  const rawTerminal = body.at(-2) !== 0x0d;
  return {
    command,
    exitCode: Number(exitCode),
    backgroundPid: Number(backgroundPid),
    cwd: unquote(body.subarray(head.length, rawTerminal ? -1 : -2)),
    rawTerminal,
  };
}

/** How much of the data is certainly not the beginning of a report. */
function safeLength(data: Buffer, from: number): number {
  for (let length = Math.min(reportPrefix.length - 1, data.length - from); length > 0; length--) {
    if (data.subarray(data.length - length).toString('latin1') === reportPrefix.slice(0, length))
      return data.length - length;
  }
  return data.length;
}
