/** The rules of one `.gitignore` or `.ignore` file. */
import { withoutEnd } from '../../../../base/without-end.js';
import { compilePath, type PathMatcher } from './glob-pattern.js';

export type Verdict = 'ignored' | 'kept' | undefined;

/** A rule takes at most its own length times the length of the path. A path gets about 20 ms. */
export const mostSteps = 2_000_000;

export interface Steps {
  left: number;
}

interface Rule {
  readonly matches: PathMatcher;
  readonly directoriesOnly: boolean;
  readonly verdict: 'ignored' | 'kept';
  readonly length: number;
}

export class IgnoreRules {
  /** In reverse order, because the last matching rule decides. */
  readonly #rules: readonly Rule[];

  constructor(text: string) {
    const lines = text.replace(/^\uFEFF/, '').split('\n');
    this.#rules = lines
      .map(parseRule)
      .filter((rule) => rule !== undefined)
      .reverse();
  }

  /**
   * What the rules say about a path relative to their directory; undefined when they say nothing, or when there are
   * more of them than `steps` allows to look at.
   */
  judge(path: string, isDirectory: boolean, steps: Steps = { left: mostSteps }): Verdict {
    for (const rule of this.#rules) {
      if (rule.directoriesOnly && !isDirectory) continue;
      steps.left -= rule.length * path.length;
      if (steps.left < 0) return undefined;
      if (rule.matches(path)) return rule.verdict;
    }
    return undefined;
  }
}

function parseRule(line: string): Rule | undefined {
  const text = trimEnd(line.replace(/\r$/, ''));
  if (text === '' || text.startsWith('#')) return undefined;
  const negated = text.startsWith('!');
  const body = negated ? text.slice(1) : text;
  const directoriesOnly = body.endsWith('/') && !body.endsWith('\\/');
  const path = directoriesOnly ? body.slice(0, -1) : body;
  if (path === '' || path === '/') return undefined;
  try {
    const matches = compilePath(path, { anchored: path.includes('/') });
    return { matches, directoriesOnly, verdict: negated ? 'kept' : 'ignored', length: path.length };
  } catch {
    // A line that is no pattern excludes nothing.
    return undefined;
  }
}

/** Spaces at the end count only when the last one has a backslash before it. */
function trimEnd(line: string): string {
  const trimmed = withoutEnd(line, ' ', '\t');
  return trimmed.endsWith('\\') && trimmed.length < line.length ? `${trimmed} ` : trimmed;
}
