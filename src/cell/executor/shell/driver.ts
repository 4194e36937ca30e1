/**
 * The program that bash runs: wait for a command on the channel, run it in the shell itself, and report its end on
 * the terminal, behind all that it printed.
 *
 * The loop lives in PROMPT_COMMAND of an interactive shell. So Ctrl-C behaves as a person knows it (it abandons the
 * whole command and comes back here), nothing types into the terminal, and variables, functions and options belong to
 * the user alone. The head of the loop makes the report: `continue`, an interrupt and a normal end all arrive there.
 * Only `break` leaves the loop, and the shell reports that too.
 *
 * Why you can believe a report: it carries a token that is new with each command and that only two places know, this
 * side and the memory of the shell. The token comes through the channel, a descriptor that the launcher gives to the
 * shell alone and that no path leads to. The shell holds it close-on-exec, so no program has it. What the shell
 * prints goes to this side, and nothing else on the terminal can read it. Where the launcher has its own bash for
 * that (`Launcher.bash`), no program can open the memory of the shell either. Forks of the shell itself, such as `( …
 * ) &`, are the shell: they have its memory and its channel.
 */
import { quote } from '../../../base/shell-quote.js';
import { unquote } from './unquote.js';

/** Where bash keeps its channel: out of the way of the numbers that people use. */
const channel = 27;

const numberDigits = 9;
const lengthDigits = 9;
/** Two numbers, a space and a line end. */
const headerLength = numberDigits + lengthDigits + 2;

/** The shell reports this when a command left the loop. An empty line on the terminal brings it back. */
const leftLoop = 'left';

/** Begins the report of a shell that exits; its working directory follows. */
const exitReport = 'exit;';

const reportPrefix = '\x1b]7777;';
const reportEnd = 0x07;

/** The path of a working directory, with every byte of it escaped, is shorter than this. */
const longestReport = 32_768;

export interface Report {
  /** Which command ended. */
  readonly token: string;
  readonly exitCode: number;
  /** The last process that the shell started in the background; 0 without one. */
  readonly backgroundPid: number;
  readonly cwd: string;
  /** A program left the terminal in raw mode. */
  readonly rawTerminal: boolean;
}

/** The variables that make a bash with its channel at descriptor 3 take its commands from there. */
export const driverVariables: Readonly<Record<string, string>> = {
  PROMPT_COMMAND: driverSource(),
  // Otherwise bash reads the history of its user before anything else.
  HISTFILE: '',
};

/**
 * `set -a` and `set -x` are off between commands: programs must not get anything of this, nor people see it. Two `read`
 * calls of known length take a command, because bash reads everything else byte by byte.
 */
function driverSource(): string {
  const print = (format: string, words: string) =>
    `\\builtin printf '\\e]7777;%s;${format}' "$__workcell_token" ${words}`;
  // Its only line end is its last character: bash writes line by line, and between two writes others could print.
  const end = print('%d;%d;%q\\a\\n', '"$__workcell_status" "${!:-0}" "$PWD"');
  // Opening the terminal costs more than all the rest, so do it only when a command has redirected its output.
  const report = `if [[ $__workcell_token ]]; then if [[ -t 1 ]]; then ${end}; else ${end} >"$__workcell_terminal"; fi; fi;`;
  const header = `${'[0-9]'.repeat(numberDigits)}' '${'[0-9]'.repeat(lengthDigits)}`;
  const receive = [
    `while \\builtin read -r -N ${headerLength} -u ${channel} __workcell_header`,
    // Without a channel this shell has no use any more.
    '|| case $? in 1) \\builtin kill -KILL $$;; *) \\builtin false;; esac;',
    `do until case $__workcell_header in ${header}$'\\n'|${header}) ;; *) \\builtin false;; esac;`,
    // Skips remains of a message that an interrupt cut through. They end in a line end, and none of them is a line of
    // two numbers.
    `do IFS= \\builtin read -r -u ${channel} __workcell_header || \\builtin break 2; done;`,
    `\\builtin read -r -N "$((10#\${__workcell_header:${numberDigits + 1}:${lengthDigits}}))" -u ${channel} __workcell_message || \\builtin break;`,
    // When we send a command again because its first copy seemed lost, it still runs once.
    `if [[ 10#\${__workcell_header%% *} -gt $__workcell_number ]]; then \\builtin break; fi; __workcell_message=; done;`,
    '[[ $__workcell_message ]];',
  ].join(' ');
  const loop = [
    'while { __workcell_status=${__workcell_kept:-$?} __workcell_kept= __workcell_flags=$-; set +ax; } 2>&-;',
    'if [[ $__workcell_after ]]; then \\builtin eval "$__workcell_after"; fi;',
    '__workcell_after= __workcell_command= __workcell_message=;',
    `${report} ${receive}`,
    'do',
    '\\builtin eval "$__workcell_message"; __workcell_message=;',
    'if [[ $__workcell_before ]]; then \\builtin eval "$__workcell_before"; __workcell_before=; fi;',
    // Under `set -e` a status like the one of `! true` ends nothing, but it would if it became the status of `eval`.
    `case $__workcell_flags in *[aex]*)`,
    `case $__workcell_flags in *x*) __workcell_command="set -x;$__workcell_command";; esac;`,
    `case $__workcell_flags in *a*) __workcell_command="set -a;$__workcell_command";; esac;`,
    `case $__workcell_flags in *e*) __workcell_command+=$'\\n{ __workcell_kept=$?; } 2>/dev/null';; esac;;`,
    'esac;',
    // The command sees the status of the previous one; behind `||`, `set -e` ignores a status that is not 0.
    'case $__workcell_status in 0) \\builtin eval "$__workcell_command";;',
    '*) __workcell_return "$__workcell_status" || \\builtin eval "$__workcell_command";; esac;',
    'done;',
    `${print(`${leftLoop}\\a`, '')} >"$__workcell_terminal"`,
  ].join(' ');
  return [
    'PS1= PS2=',
    'unset HISTFILE MAILCHECK',
    // The launcher may use a copy for shells, whose name means nothing to people and scripts.
    'BASH_ARGV0=bash',
    'if [[ ! -r $BASH ]]; then if [[ -x /bin/bash ]]; then BASH=/bin/bash; else BASH=/usr/bin/bash; fi; fi',
    '__workcell_number=0 __workcell_token= __workcell_kept= __workcell_before= __workcell_after= __workcell_terminal=/dev/tty',
    // A copy of a descriptor is close-on-exec when the original is, and the copy that bash saves during a redirection
    // is. Bash saves it under the lowest number from 10 on, which is also the first that it hands out.
    'exec {__workcell_saved}</dev/null {__workcell_saved}<&-',
    `{ exec ${channel}<&"$__workcell_saved"; } 3<&0`,
    'exec 3<&-',
    'unset __workcell_saved',
    // Not every kernel knows the terminal by that name; finding its other name takes longer.
    '{ : >/dev/tty; } 2>/dev/null || __workcell_terminal=$(\\command readlink /proc/$$/fd/0)',
    '__workcell_return() { return "$1"; }',
    `trap ${quote(`${print(`${exitReport}%q\\a`, '"$PWD"')} >"$__workcell_terminal"`)} EXIT`,
    `PROMPT_COMMAND=${quote(loop)}`,
    'declare +x PROMPT_COMMAND',
    'eval "$PROMPT_COMMAND"',
  ].join('\n');
}

export interface Command {
  readonly source: string;
  /** Shell source for what holds for this command only, and source that undoes it. */
  readonly before: string;
  readonly after: string;
}

/** A command as the channel carries it: a line with its number and its length, and then itself, without line ends. */
export function commandMessage(number: number, token: string, { source, before, after }: Command): string {
  const scope =
    before === '' && after === ''
      ? ''
      : `__workcell_before=${asciiWord(before)} __workcell_after=${asciiWord(after)} `;
  const body = `__workcell_number=${number} __workcell_token=${token} ${scope}__workcell_command=${asciiWord(source)}`;
  const header = `${digits(number, numberDigits)} ${digits(body.length, lengthDigits)}\n`;
  return header + body;
}

/** The same once more, for a shell that may have read any part of the first copy. */
export function copyMessage(message: string): string {
  return '\n'.repeat(headerLength) + message;
}

function digits(number: number, count: number): string {
  return String(number).padStart(count, '0');
}

/** One word of bash source in printable ASCII, which has as many characters as bytes in every locale. */
function asciiWord(text: string): string {
  if (/^[ -~]*$/.test(text)) return quote(text);
  const bytes = Array.from(Buffer.from(text), (byte) =>
    byte >= 0x20 && byte < 0x7f && byte !== 0x27 && byte !== 0x5c
      ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).padStart(2, '0')}`,
  );
  return `$'${bytes.join('')}'`;
}

export type Found =
  /** Everything up to `safe` is output; the rest may begin a report. */
  | { readonly kind: 'none'; readonly safe: number }
  | { readonly kind: 'left'; readonly start: number; readonly end: number }
  | { readonly kind: 'exit'; readonly start: number; readonly end: number; readonly cwd: string }
  | { readonly kind: 'report'; readonly start: number; readonly end: number; readonly report: Report };

/** Looks for a report with one of the tokens, all of one length, in what came from the terminal. */
export function findReport(data: Buffer, tokens: readonly string[]): Found {
  const heads = tokens.map((token) => `${reportPrefix}${token};`);
  const headLength = heads[0]?.length ?? 0;
  for (let from = 0; ; ) {
    const start = data.indexOf(reportPrefix, from, 'latin1');
    if (start === -1) return { kind: 'none', safe: safeLength(data, heads) };
    const head = data.toString('latin1', start, start + headLength);
    const index = heads.indexOf(head);
    if (index !== -1) {
      const found = readReport(tokens[index] as string, data, start, start + headLength);
      if (found !== undefined) return found;
    } else if (start + headLength > data.length && heads.some((whole) => whole.startsWith(head))) {
      return { kind: 'none', safe: start };
    }
    from = start + reportPrefix.length;
  }
}

/** Undefined for text that turns out not to be a report. */
function readReport(token: string, data: Buffer, start: number, bodyStart: number): Found | undefined {
  const last = data.subarray(0, start + longestReport).indexOf(reportEnd, bodyStart);
  if (last === -1) return data.length - start < longestReport ? { kind: 'none', safe: start } : undefined;
  const body = data.subarray(bodyStart, last);
  const text = body.toString('latin1');
  if (text === leftLoop) return { kind: 'left', start, end: last + 1 };
  if (text.startsWith(exitReport))
    return { kind: 'exit', start, end: last + 1, cwd: unquote(body.subarray(exitReport.length)) };
  const match = /^(-?\d+);(\d+);/.exec(text);
  if (match === null) return undefined;
  // A line end follows, which a terminal in its usual mode turns into two characters.
  const rawTerminal = data[last + 1] === 0x0a;
  const end = last + (rawTerminal ? 2 : 3);
  if (data.length < end) return { kind: 'none', safe: start };
  const [head, exitCode, backgroundPid] = match;
  const cwd = unquote(body.subarray(head.length));
  const report = {
    token,
    exitCode: Number(exitCode),
    backgroundPid: Number(backgroundPid),
    cwd,
    rawTerminal,
  };
  return { kind: 'report', start, end, report };
}

/** How much of the data is certainly not the beginning of a report. */
function safeLength(data: Buffer, heads: readonly string[]): number {
  for (let length = Math.min(reportPrefix.length - 1, data.length); length > 0; length--) {
    const tail = data.toString('latin1', data.length - length);
    if (heads.some((head) => head.startsWith(tail))) return data.length - length;
  }
  return data.length;
}
