/** Turns the conditions of a rule into functions of the facts about one command. */
import { compileGlob } from '../../../../base/glob.js';
import type { Invocation } from '../shell/invocation.js';
import type { Scope } from '../shell/scope.js';
import { has, operands, optionValue } from './arguments.js';
import type { Condition, Pattern } from './rule.js';

const longestLine = 16_384;

/** What conditions ask about a command; computes each answer on first use. */
export class Facts {
  readonly invocation: Invocation;
  readonly scope: Scope;
  /** Options that take the next word. */
  values: ReadonlySet<string> = new Set();
  /** The user calls this use harmless, so do not ask about it. */
  harmless = false;
  #line: string | undefined;
  #operands: readonly string[] | undefined;

  constructor(invocation: Invocation, scope: Scope) {
    this.invocation = invocation;
    this.scope = scope;
  }

  get line(): string {
    this.#line ??= this.invocation.args.join(' ').slice(0, longestLine);
    return this.#line;
  }

  get operands(): readonly string[] {
    this.#operands ??= operands(this.invocation.args);
    return this.#operands;
  }

  /** The words that are neither options nor their values. */
  get words(): string[] {
    const { args } = this.invocation;
    return args.filter((arg, index) => !arg.startsWith('-') && !this.values.has(args[index - 1] ?? ''));
  }
}

export type Test = (facts: Facts) => boolean;

/** Fits when every key of the condition does. */
export function compileCondition(condition: Condition & { unless?: Condition | undefined }): Test {
  const tests: Test[] = [];
  const { program, verb, words, arg, line, option, value, operand, place, from, count, unless, test } =
    condition;
  if (program !== undefined) {
    const fits = compilePattern(program);
    tests.push(({ invocation }) => fits(invocation.program));
  }
  if (count !== undefined) tests.push(({ invocation }) => invocation.args.length >= count);
  if (verb !== undefined) {
    const fits = compilePattern(verb);
    tests.push((facts) => fits(facts.words[0] ?? ''));
  }
  if (arg !== undefined) {
    const fits = compilePattern(arg);
    tests.push(({ invocation }) => invocation.args.some(fits));
  }
  if (option !== undefined) tests.push(compileOption(option));
  if (words !== undefined) {
    const fits = compilePhrases(words);
    tests.push((facts) => fits(facts.words.join(' ')));
  }
  if (line !== undefined) {
    const fits = compileContained(line);
    tests.push((facts) => fits(facts.line));
  }
  for (const [names, pattern] of Object.entries(value ?? {})) {
    const fits = compilePattern(pattern);
    const [short = '', long] = names.split(' ');
    tests.push(({ invocation }) => {
      const given = optionValue(invocation.args, short, long ?? short);
      return given !== undefined && fits(given);
    });
  }
  if (operand !== undefined) {
    const fits = compilePattern(operand);
    tests.push((facts) => facts.operands.some(fits));
  }
  if (place !== undefined) {
    const fits = compilePattern(place);
    tests.push((facts) => facts.operands.some((path) => fits(facts.scope.place(path))));
  }
  if (from !== undefined) {
    const fits = compilePattern(from);
    tests.push(({ invocation }) => invocation.input.from.some(({ program: name }) => fits(name)));
  }
  if (test !== undefined) tests.push(({ invocation, scope }) => test(invocation, scope));
  if (unless !== undefined) {
    const excepted = compileCondition(unless);
    tests.push((facts) => !excepted(facts));
  }
  const [only, ...others] = tests;
  if (only === undefined) return () => true;
  return others.length === 0 ? only : (facts) => tests.every((fits) => fits(facts));
}

/** One whole word. */
export function compilePattern(pattern: Pattern): (text: string) => boolean {
  if (pattern instanceof RegExp) return (text) => pattern.test(text);
  const words = typeof pattern === 'string' ? pattern.split(' ') : pattern;
  if (!words.some((word) => word.includes('*'))) {
    const set = new Set(words);
    return (text) => set.has(text);
  }
  return anyOf(words);
}

/** The words of a phrase are at the beginning. */
function compilePhrases(pattern: Pattern): (text: string) => boolean {
  if (pattern instanceof RegExp) return (text) => pattern.test(text);
  const fits = anyOf(phrasesOf(pattern).map((phrase) => `${phrase} *`));
  return (text) => fits(`${text} `);
}

/** The words stand somewhere in it, side by side. */
function compileContained(pattern: Pattern): (text: string) => boolean {
  if (pattern instanceof RegExp) return (text) => pattern.test(text);
  const fits = anyOf(phrasesOf(pattern).map((phrase) => `* ${phrase} *`));
  return (text) => fits(` ${text} `);
}

function phrasesOf(pattern: string | readonly string[]): readonly string[] {
  return typeof pattern === 'string' ? [pattern] : pattern;
}

function anyOf(globs: readonly string[]): (text: string) => boolean {
  const patterns = globs.map((glob) => compileGlob(glob, 'words'));
  return (text) => patterns.some((fits) => fits(text));
}

/** Letters also count in a group such as `-rf`; `-delete` counts alone. */
function compileOption(names: string): Test {
  const all = names.split(' ');
  const letters = all
    .filter((name) => /^-\w$/.test(name))
    .map((name) => name.slice(1))
    .join('');
  const long = all.filter((name) => name.startsWith('--')).map((name) => name.slice(2));
  const exact = new Set(all.filter((name) => !/^--|^-\w$/.test(name)));
  return ({ invocation: { args } }) =>
    has(args, letters, ...long) || (exact.size > 0 && args.some((arg) => exact.has(arg)));
}
