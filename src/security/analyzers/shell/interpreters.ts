/** Programs that run code they are given: shells, and the interpreters of other languages. */
import { unknownText } from '../paths/place.js';
import { judgeCode } from './code.js';
import type { Invocation, Result } from './invocation.js';
import type { Scope } from './scope.js';
import { judgeFile, judgeSource } from './sources.js';

const shells = /^(?:r?bash|sh|dash|ash|zsh|ksh\d*|mksh|fish|busybox-sh|csh|tcsh|pwsh)(?:-?\d[\d.]*)?$/;
const languages =
  /^(?:python[\d.]*w?|pypy3?|perl[\d.]*|ruby[\d.]*|node|nodejs|php[\d.]*|lua[\d.]*|deno|bun|osascript|Rscript|tclsh|ts-node|tsx|ipython3?|jruby|guile|julia|groovy)$/;
const awks = /^[gmn]?awk$/;

/** Reads the code of an interpreter; nothing when the program is none. */
export function runInterpreter(invocation: Invocation, scope: Scope): Result | undefined {
  const { program, args } = invocation;
  if (shells.test(program)) return runShell(invocation, scope);
  if (program === 'eval') return runText(args.join(' '), invocation, scope, 'The text of eval');
  if (program === 'source' || program === '.') {
    judgeFile(args[0] ?? '', invocation.behind, scope, 'The script');
    if (args[0] === '/dev/stdin') return runInput(invocation, scope);
    return walkBehind(invocation, scope);
  }
  if (program === 'trap' && args.length > 1 && !args[0]?.startsWith('-'))
    return runText(args[0] ?? '', invocation, scope, 'The text of trap');
  if (languages.test(program)) return runLanguage(invocation, scope);
  if (awks.test(program)) {
    judgeCode(args.find((arg) => !arg.startsWith('-')) ?? '', scope, 'awk');
    return undefined;
  }
  return undefined;
}

function runShell(invocation: Invocation, scope: Scope): Result {
  const { args, input } = invocation;
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? '';
    if (/^-[a-zA-Z]*c[a-zA-Z]*$/.test(arg) || arg === '--command') {
      const rest = args.slice(index + 1);
      const at = rest.findIndex((word) => !/^[-+][a-zA-Z]/.test(word));
      return runText(
        rest[at] ?? '',
        invocation,
        scope,
        `The text of ${invocation.program} -c`,
        rest.slice(at + 2),
      );
    }
    if (/^-[a-zA-Z]*s[a-zA-Z]*$/.test(arg) && !arg.startsWith('--')) return runInput(invocation, scope);
    if (arg === '-o' || arg === '+o' || arg === '-O' || arg === '--rcfile' || arg === '--init-file') {
      index++;
      continue;
    }
    if (arg === '-' || arg === '/dev/stdin' || arg === '/proc/self/fd/0') return runInput(invocation, scope);
    if (/^[-+]./.test(arg)) continue;
    judgeFile(arg, invocation.behind, scope, `The script of ${invocation.program}`);
    return walkBehind(invocation, scope);
  }
  if (input.file !== undefined)
    judgeFile(input.file, invocation.behind, scope, `The script of ${invocation.program}`);
  return runInput(invocation, scope);
}

/** Code that stands in the words. Where it is made by another program, its source counts. */
function runText(
  text: string,
  invocation: Invocation,
  scope: Scope,
  what: string,
  positional: readonly string[] = [],
): Result {
  if (/^\s*\0/.test(text)) judgeSource(invocation.substituted, scope, what);
  if (text.trim() === unknownText) {
    if (invocation.substituted.length === 0) scope.medium(`${what} is not known before it runs.`);
    return { from: [] };
  }
  return invocation.program === 'eval' ? scope.readHere(text) : scope.read(text, positional);
}

function runInput(invocation: Invocation, scope: Scope): Result {
  const { input } = invocation;
  if (input.text !== undefined && !/^\s*(?:\.\/)?\0/.test(input.text)) {
    const outside = scope.input;
    scope.input = { from: [] };
    const result = scope.read(input.text);
    scope.input = outside;
    return result;
  }
  if (input.text !== undefined && input.from.length === 0)
    scope.medium(`The input of ${invocation.program} is not known before it runs.`);
  judgeSource(input.from, scope, `The input of ${invocation.program}`);
  return { from: [] };
}

function walkBehind({ behind }: Invocation, scope: Scope): Result {
  for (const { text } of behind) if (text !== undefined && !text.includes(unknownText)) scope.read(text);
  return { from: [] };
}

const codeOption = /^(?:-[a-zA-Z]*[ceErp]|--eval|--print|eval)$/;

function runLanguage(invocation: Invocation, scope: Scope): Result {
  const { program, args, input } = invocation;
  let given = false;
  for (const [index, arg] of args.entries()) {
    if (
      codeOption.test(arg) &&
      !(arg === '-c' && program === 'node') &&
      !(arg === '-r' && !program.startsWith('php'))
    ) {
      const code = args[index + 1] ?? '';
      given = true;
      if (/^\s*\0/.test(code)) judgeSource(invocation.substituted, scope, `The code of ${program}`);
      judgeCode(code, scope, program);
    }
    if (arg === '-m') {
      given = true;
      break;
    }
    if (arg === '-') break;
    if (!arg.startsWith('-')) {
      if (!given) judgeFile(arg, invocation.behind, scope, `The script of ${program}`);
      given = true;
      break;
    }
  }
  if (given) return { from: [] };
  if (input.text !== undefined && !input.text.startsWith(unknownText)) judgeCode(input.text, scope, program);
  else judgeSource(input.from, scope, `The input of ${program}`);
  return { from: [] };
}
