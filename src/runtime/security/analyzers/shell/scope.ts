/**
 * What we know while we read a script: variables, functions, the working directory, files that came from elsewhere.
 */

import type { Function as FunctionNode } from 'unbash';
import type { AnalyzeContext } from '../analyzer.js';
import { Findings } from '../findings.js';
import { own } from '../lookup.js';
import { place, unknownText } from '../paths/place.js';
import type { RuleSet } from '../programs/rule-set.js';
import type { Input, Invocation, Result } from './invocation.js';

const deepest = 24;
const longestText = 65_536;
const mostOrigins = 512;

/** Reads shell source in a scope. Handed in, so that the tables of programs need not know the walker. */
export type Reader = (source: string, scope: Scope) => Result;

/** The tools for reading a script. */
interface Reading {
  readonly context: AnalyzeContext;
  readonly findings: Findings;
  readonly reader: Reader;
  readonly rules: RuleSet;
}

export class Scope {
  readonly context: AnalyzeContext;
  readonly findings: Findings;
  readonly rules: RuleSet;
  readonly functions: Map<string, FunctionNode>;
  readonly aliases: Map<string, string>;
  /** Names that stand for other variables, as `declare -n` makes them. */
  readonly references: Map<string, string>;
  /** Places of files that a command fetched from the network. */
  readonly downloaded: Set<string>;
  /** Places of cloned repositories. */
  readonly cloned: Set<string>;
  /** Names of added or changed remotes. */
  readonly remotes: Set<string>;
  /** Text of files that this script has written, where it is constant. */
  readonly written: Map<string, string>;
  /** Places of files into which this script has put data that must not leave. */
  readonly tainted: Set<string>;
  /** Copies and links of programs: place of the copy → name of the program. */
  readonly renamed: Map<string, string>;
  /** Called functions, which we judge with the arguments of the call. */
  readonly called: Set<string>;
  /** Functions whose bodies we are reading, so that we read one that calls itself once. */
  readonly calling: Set<unknown>;
  /** Every simple command so far, in order. */
  readonly met: Invocation[];
  /** Every address that code, or other content of an action, uses. */
  readonly addresses: string[];
  readonly depth: number;
  cwd: string;
  /** Arguments of the function or script; none at the top level. */
  positional: readonly string[] = [];
  input: Input = { from: [] };
  elevated = false;
  /** A program that starts another one as a side effect, such as `find` or an editor. */
  escaping: string | undefined;
  readonly #reader: Reader;
  readonly #variables: Map<string, { text: string; origin: readonly Invocation[] }>;

  constructor(parent: Scope | Reading, depth = 0) {
    const outer = parent instanceof Scope ? parent : undefined;
    this.context = parent.context;
    this.findings = parent.findings;
    this.rules = parent.rules;
    this.functions = outer?.functions ?? new Map();
    this.aliases = outer?.aliases ?? new Map();
    this.references = outer?.references ?? new Map();
    this.downloaded = outer?.downloaded ?? new Set();
    this.cloned = outer?.cloned ?? new Set();
    this.remotes = outer?.remotes ?? new Set();
    this.written = outer?.written ?? new Map();
    this.tainted = outer?.tainted ?? new Set();
    this.renamed = outer?.renamed ?? new Map();
    this.called = outer?.called ?? new Set();
    this.calling = outer?.calling ?? new Set();
    this.met = outer?.met ?? [];
    this.addresses = outer?.addresses ?? [];
    this.depth = outer === undefined ? depth : outer.depth + 1;
    this.cwd = outer?.cwd ?? '.';
    this.positional = outer?.positional ?? [];
    this.input = outer?.input ?? { from: [] };
    this.elevated = outer?.elevated ?? false;
    this.escaping = outer?.escaping;
    this.#reader = parent instanceof Scope ? parent.#reader : parent.reader;
    this.#variables = new Map(outer?.variables);
  }

  get variables(): ReadonlyMap<string, { text: string; origin: readonly Invocation[] }> {
    return this.#variables;
  }

  /** True when nesting is so deep that its purpose is to hide something. */
  get tooDeep(): boolean {
    if (this.depth <= deepest) return false;
    this.findings.add('unknown', 'The command is nested too deeply to be judged.');
    return true;
  }

  set(name: string, text: string, origin: readonly Invocation[] = []): void {
    // Text that doubles over and over would fill the memory.
    const kept = text.length > longestText ? unknownText : text;
    this.#variables.set(this.resolve(name), { text: kept, origin: distinct(origin) });
  }

  /** The variable that a name stands for. */
  resolve(name: string): string {
    let found = name;
    for (let step = 0; step < deepest && this.references.size > 0; step++)
      found = this.references.get(found) ?? found;
    return found;
  }

  unset(name: string): void {
    this.#variables.delete(name);
  }

  get(given: string): { text: string; origin: readonly Invocation[] } {
    const name = this.resolve(given);
    const known = this.#variables.get(name);
    if (known !== undefined) return known;
    return { text: this.#builtin(name), origin: [] };
  }

  place(path: string): string {
    return place(path, { cwd: this.cwd, workspace: this.context.workspace, home: this.context.home });
  }

  /** True for a file inside a repository that this script has cloned. */
  isCloned(path: string): boolean {
    if (this.cloned.size === 0) return false;
    const where = this.place(path);
    return [...this.cloned].some((directory) => where.startsWith(`${directory}/`));
  }

  /** Reads shell source as a separate script. */
  read(source: string, positional: readonly string[] = [], name?: string): Result {
    const inner = new Scope(this);
    if (name !== undefined) inner.set('0', name);
    inner.positional = positional;
    return this.#reader(source, inner);
  }

  /** Reads shell source as a part of this script, whose variables it changes. */
  readHere(source: string): Result {
    return this.#reader(source, this);
  }

  /** Reads text that may or may not be shell source: only dangerous findings count. */
  suspect(source: string): void {
    if (this.depth > deepest / 2) return;
    const findings = new Findings();
    const { context, rules } = this;
    const inner = new Scope({ context, findings, reader: this.#reader, rules }, this.depth + 1);
    inner.cwd = this.cwd;
    inner.elevated = this.elevated;
    if (this.findings.spend()) this.#reader(source, inner);
    for (const reason of findings.high) this.high(reason);
  }

  high(reason: string): void {
    this.findings.add('high', reason);
  }

  medium(reason: string): void {
    this.findings.add('medium', reason);
  }

  #builtin(name: string): string {
    if (/^[1-9]\d*$/.test(name)) return this.positional[Number(name) - 1] ?? '';
    if (name === '@' || name === '*') return this.positional.join(' ');
    return own(builtins, name) ?? (name === 'PWD' ? this.cwd : unknownText);
  }
}

/** Each once, and no more than any honest script needs. */
export function distinct(invocations: readonly Invocation[]): readonly Invocation[] {
  if (invocations.length < 2) return invocations;
  const once = [...new Set(invocations)];
  return once.length > mostOrigins
    ? [...once.slice(0, mostOrigins / 2), ...once.slice(-mostOrigins / 2)]
    : once;
}

const builtins: Readonly<Record<string, string>> = {
  HOME: '~',
  IFS: ' ',
  TMPDIR: '/tmp',
  PATH: '/usr/local/bin:/usr/bin:/bin',
  SHELL: '/bin/bash',
  BASH: '/bin/bash',
  '0': 'bash',
  XDG_CONFIG_HOME: '~/.config',
  XDG_CACHE_HOME: '~/.cache',
  HISTFILE: '~/.bash_history',
};
