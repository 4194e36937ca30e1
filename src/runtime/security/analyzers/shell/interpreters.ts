/** Programs that run code from their arguments or input: shells, and the interpreters of other languages. */

import { judgeCode } from '../code/judge.js';
import { unknownText } from '../paths/place.js';
import type { Invocation, Result } from './invocation.js';
import type { Scope } from './scope.js';
import { isHidden, judgeFile, judgeSource } from './sources.js';

const shells = /^(?:r?bash|sh|dash|ash|zsh|ksh\d*|mksh|fish|busybox-sh|csh|tcsh)(?:-?\d[\d.]*)?$/;
const languages =
  /^(?:python[\d.]*w?|pypy3?|perl[\d.]*|ruby[\d.]*|node|nodejs|php[\d.]*|lua[\d.]*|deno|bun|osascript|Rscript|R|tclsh|expect|ts-node|tsx|ipython3?|jruby|guile|julia|groovy|elixir|iex|erl|escript|scala|clojure|clj|racket|sbcl|emacs|ghc|runghc|runhaskell|crystal|jshell|irb|octave|swipl|nim|raku|qjs|jq-node|luajit|go)$/;
const awks = /^[gmn]?awk$/;

/** True for a program that runs code from its arguments or input. */
export function runsCode(program: string): boolean {
  return (
    shells.test(program) ||
    languages.test(program) ||
    awks.test(program) ||
    /^(?:eval|source|\.|trap)$/.test(program)
  );
}

/** Reads the code of an interpreter; nothing when the program is none. */
export function runInterpreter(invocation: Invocation, scope: Scope): Result | undefined {
  const { program, args } = invocation;
  if (shells.test(program)) return runShell(invocation, scope);
  if (program === 'eval') return runText(args.join(' '), invocation, scope, 'The text of eval');
  if (program === 'source' || program === '.') {
    judgeFile(args[0] ?? '', invocation.behind, scope, 'The script');
    if (args[0] === '/dev/stdin') return runInput(invocation, scope);
    runWritten(args[0] ?? '', scope);
    return walkBehind(invocation, scope);
  }
  if (program === 'go' && args[0] === 'run')
    return runLanguage({ ...invocation, args: args.slice(1) }, scope);
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
        rest[at + 1],
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
    runWritten(arg, scope);
    return walkBehind(invocation, scope);
  }
  if (input.file !== undefined) {
    judgeFile(input.file, invocation.behind, scope, `The script of ${invocation.program}`);
    runWritten(input.file, scope);
  } else if (input.text === undefined && input.from.length === 0) judgeOpenShell(invocation, scope);
  return runInput(invocation, scope);
}

/** An interactive shell from a program with another purpose. */
function judgeOpenShell({ program }: Invocation, scope: Scope): void {
  if (scope.elevated) scope.high('Opens a shell with the rights of root.');
  else if (scope.escaping !== undefined) scope.high(`Opens ${program} out of ${scope.escaping}.`);
}

/** Runs a file that this very script has written. */
export function runWritten(path: string, scope: Scope, language?: string): void {
  if (scope.written.size === 0) return;
  const where = scope.place(path);
  const text = scope.written.get(where);
  if (text === undefined) return;
  scope.written.delete(where);
  const named = language ?? /^#!.*?([a-z]+)[\d.]*(?:\s.*)?$/m.exec(text.split('\n', 1)[0] ?? '')?.[1];
  if (named !== undefined && (languages.test(named) || awks.test(named))) judgeCode(text, scope, named);
  else scope.read(text);
  scope.written.set(where, text);
}

/** Code in the words. If another program makes it, its source counts. */
function runText(
  text: string,
  invocation: Invocation,
  scope: Scope,
  what: string,
  positional: readonly string[] = [],
  name?: string,
): Result {
  if (invocation.substituted.some(isHidden))
    scope.high(`${what} is decoded from a form that hides it, and run.`);
  if (/^\s*\0/.test(text)) judgeSource(invocation.substituted, scope, what);
  if (text.trim() === unknownText) {
    if (invocation.substituted.length === 0) scope.medium(`${what} is not known before it runs.`);
    return { from: [] };
  }
  return invocation.program === 'eval' ? scope.readHere(text) : scope.read(text, positional, name);
}

function runInput(invocation: Invocation, scope: Scope): Result {
  const { input } = invocation;
  if (input.text !== undefined && !/^\s*(?:\.\/)?\0/.test(input.text)) {
    if (input.from.some(isHidden))
      scope.high(`The input of ${invocation.program} is decoded from a form that hides it, and run.`);
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

const codeOption = /^(?:-[a-zA-Z]*[ceErp]|--eval|--execute|--print|--batch-eval|-eval|eval|-g)$/;

function runLanguage(invocation: Invocation, scope: Scope): Result {
  const { program, args, input } = invocation;
  let given = false;
  let printed: string | undefined;
  for (const [index, arg] of args.entries()) {
    if (
      codeOption.test(arg) &&
      !(arg === '-c' && program === 'node') &&
      !(arg === '-r' && !program.startsWith('php'))
    ) {
      const code = args[index + 1] ?? '';
      given = true;
      if (/^\s*\0/.test(code)) judgeSource(invocation.substituted, scope, `The code of ${program}`);
      printed = judgeCode(code, scope, program);
    }
    const [, glued] = /^(?:ruby|perl|python|pypy|php|lua)/.test(program)
      ? (/^-[a-zA-Z]*[ecr]([^\s('"=;]*[\s('"=;][\s\S]*)$/.exec(arg) ?? [])
      : [];
    if (glued !== undefined && !/^-[MIlri]/.test(arg)) {
      given = true;
      printed = judgeCode(glued, scope, program);
    }
    if (arg === '-m') {
      given = true;
      break;
    }
    if (arg === '-' || arg === '/dev/stdin') break;
    if (!arg.startsWith('-')) {
      if (!given) {
        judgeFile(arg, invocation.behind, scope, `The script of ${program}`);
        runWritten(arg, scope, program);
      }
      given = true;
      break;
    }
  }
  if (given) return { from: [], text: printed };
  if (input.text !== undefined && !input.text.startsWith(unknownText))
    printed = judgeCode(input.text, scope, program);
  else judgeSource(input.from, scope, `The input of ${program}`);
  return { from: [], text: printed };
}
