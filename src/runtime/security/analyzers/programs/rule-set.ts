/** Applies rules to the programs that a command starts. */
import type { Invocation } from '../shell/invocation.js';
import type { Scope } from '../shell/scope.js';
import { compileCondition, compilePattern, Facts, type Test } from './conditions.js';
import { remove, write } from './file-effects.js';
import type { Case, Picked, Rule, Started } from './rule.js';
import type { HarmlessUse } from './rule-file.js';
import { startOf } from './started.js';

interface Compiled {
  readonly runsCode: boolean;
  readonly values: ReadonlySet<string>;
  readonly apply: (facts: Facts) => void;
  readonly start: ((facts: Facts) => { starts: Started; elevated: boolean } | undefined) | undefined;
}

const mostNames = 2048;

export class RuleSet {
  readonly #named = new Map<string, Rule[]>();
  readonly #patterns: { fits: (program: string) => boolean; rule: Rule }[] = [];
  readonly #compiled = new WeakMap<Rule, Compiled>();
  readonly #found = new Map<string, readonly Compiled[]>();
  readonly #harmless: readonly HarmlessUse[];

  constructor(tables: readonly (readonly Rule[])[], harmless: readonly HarmlessUse[] = []) {
    this.#harmless = harmless;
    for (const rule of tables.flat()) {
      const names = typeof rule.programs === 'string' ? rule.programs.split(' ') : rule.programs;
      for (const name of names) {
        if (name.includes('*')) this.#patterns.push({ fits: compilePattern([name]), rule });
        else this.#named.set(name, [...(this.#named.get(name) ?? []), rule]);
      }
    }
  }

  /** True for a program that some rule is about. */
  knows(program: string): boolean {
    return this.#rulesFor(program).length > 0;
  }

  /** True for a program of which we know how it starts others. */
  startsOthers(program: string): boolean {
    return this.#rulesFor(program).some(({ start }) => start !== undefined);
  }

  /** True for a program that runs commands or code from its arguments or input, whether or not we know how. */
  runsOthers(program: string): boolean {
    return this.startsOthers(program) || this.#rulesFor(program).some(({ runsCode }) => runsCode);
  }

  apply(invocation: Invocation, scope: Scope): void {
    const rules = this.#rulesFor(invocation.program);
    if (rules.length === 0) return;
    const facts = new Facts(invocation, scope);
    facts.harmless = this.#isHarmless(invocation);
    for (const rule of rules) {
      facts.values = rule.values;
      rule.apply(facts);
    }
  }

  /** What an invocation really starts; nothing when it is a program itself. */
  unwrap(invocation: Invocation, scope: Scope): { starts: Started; elevated: boolean } | undefined {
    const facts = new Facts(invocation, scope);
    for (const rule of this.#rulesFor(invocation.program)) {
      facts.values = rule.values;
      const found = rule.start?.(facts);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #isHarmless({ program, args }: Invocation): boolean {
    return this.#harmless.some(
      (entry) =>
        entry.program === program &&
        (entry.words === undefined || entry.words.every((word, index) => args[index] === word)),
    );
  }

  #rulesFor(program: string): readonly Compiled[] {
    const known = this.#found.get(program);
    if (known !== undefined) return known;
    const rules = [
      ...(this.#named.get(program) ?? []),
      ...this.#patterns.filter(({ fits }) => fits(program)).map(({ rule }) => rule),
    ].map((rule) => this.#compile(rule));
    // Names come from outside, and must not fill the memory.
    if (this.#found.size >= mostNames) this.#found.clear();
    this.#found.set(program, rules);
    return rules;
  }

  #compile(rule: Rule): Compiled {
    const known = this.#compiled.get(rule);
    if (known !== undefined) return known;
    const fits = compileCondition(rule);
    const outcome = compileOutcome(rule);
    const cases = (rule.cases ?? []).map((entry) => ({
      fits: compileCondition(entry),
      outcome: compileOutcome(entry),
    }));
    const { start, starts } = rule;
    const compiled: Compiled = {
      runsCode: rule.runsCode ?? false,
      values: new Set(rule.values?.split(' ')),
      apply: (facts) => {
        if (!fits(facts)) return;
        outcome(facts);
        cases.find((entry) => entry.fits(facts))?.outcome(facts);
      },
      start:
        start === undefined && starts === undefined
          ? undefined
          : (facts) => {
              if (!fits(facts)) return undefined;
              const { invocation, scope } = facts;
              const found = start?.(invocation, scope) ?? (starts && startOf(facts, starts));
              return found && { starts: found, elevated: starts?.elevated ?? false };
            },
    };
    this.#compiled.set(rule, compiled);
    return compiled;
  }
}

function compileOutcome({ high, medium, highWhen, writes, removes, judge }: Case): (facts: Facts) => void {
  const worse: Test | undefined = highWhen && compileCondition(highWhen);
  return (facts) => {
    const { invocation, scope } = facts;
    const name = (reason: string) => reason.replace('{program}', invocation.program);
    if (high !== undefined) scope.high(name(high));
    if (medium !== undefined) {
      if (worse?.(facts)) scope.high(name(medium));
      else if (!facts.harmless) scope.medium(name(medium));
    }
    if (writes !== undefined) for (const path of pickFrom(facts, writes)) write(path, scope, 'Writes');
    if (removes !== undefined) for (const path of pickFrom(facts, removes)) remove(path, true, scope);
    judge?.(invocation, scope);
  };
}

function pickFrom({ operands }: Facts, picked: Picked): readonly string[] {
  switch (picked) {
    case 'all':
      return operands;
    case 'first':
      return operands.slice(0, 1);
    case 'last':
      return operands.slice(-1);
    case 'but-first':
      return operands.slice(1);
    case 'but-last':
      return operands.slice(0, -1);
  }
}
