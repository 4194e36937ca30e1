import type { Risk, Verdict } from './analyzer.js';

const deepest = 100;

/** Collects the findings in one action, and limits how much work it can still cost. */
export class Findings {
  readonly high = new Set<string>();
  readonly medium = new Set<string>();
  readonly unknown = new Set<string>();
  #budget = 20_000;
  #depth = 0;

  add(risk: Exclude<Risk, 'low'>, reason: string): void {
    this[risk].add(reason);
  }

  /** False once an action has cost too much to judge, which makes it `unknown`. */
  spend(): boolean {
    if (--this.#budget > 0) return true;
    this.unknown.add('The command is too large to be judged.');
    return false;
  }

  /** Reads text that may mean something else: that it is unreadable says nothing, that it is too large does. */
  leniently(work: () => void): void {
    const before = new Set(this.unknown);
    work();
    for (const reason of this.unknown)
      if (!before.has(reason) && !/too (?:large|deeply|long)/.test(reason)) this.unknown.delete(reason);
  }

  /** Does work one level deeper. Too many levels are a way to hide something, and count as `unknown`. */
  nested<Result>(work: () => Result, otherwise: Result): Result {
    if (this.#depth >= deepest) {
      this.unknown.add('The command is nested too deeply to be judged.');
      return otherwise;
    }
    this.#depth++;
    try {
      return work();
    } finally {
      this.#depth--;
    }
  }

  verdict(): Verdict {
    const reasons = [...this.high, ...this.unknown, ...this.medium];
    if (this.high.size > 0) return { risk: 'high', reasons };
    if (this.unknown.size > 0) return { risk: 'unknown', reasons };
    return { risk: this.medium.size > 0 ? 'medium' : 'low', reasons };
  }
}
