/** Which commands get a secret. */
import { compileGlob, type GlobMatcher } from '../../../base/glob.js';
import { describeAction } from '../../../protocol/index.js';
import { definitionOf, unfold } from '../analyzers/actions/unfold.js';
import type { AnalyzeContext, JudgedAction } from '../analyzers/analyzer.js';

/** Commands that may run beside a chosen one, because they send nothing anywhere. */
const neutral = new Set([
  'cd',
  ':',
  'true',
  'false',
  'test',
  '[',
  'set',
  'exit',
  'export',
  'head',
  'tail',
  'wc',
  'grep',
  'jq',
  'sort',
  'sleep',
  'pwd',
  'mkdir',
]);

/** By name: the source mentions it. By `commands`: every command in the line is a chosen one or sends nothing. */
export function mayReceive(
  name: string,
  commands: readonly string[] | undefined,
  action: JudgedAction,
  context: AnalyzeContext = {},
): boolean {
  if (commands === undefined) return mentions(name, action, context);
  const found = unfold(action, context);
  if (!found.complete || found.commands.some(({ path }) => path.includes('\0'))) return false;
  const patterns = commands.map(compile);
  const texts = found.commands.map(({ program, path, args }) => ({
    program,
    text: [path, ...args].join(' '),
  }));
  const chosen = texts.filter(({ text }) => patterns.some((fits) => fits(text)));
  return chosen.length > 0 && texts.every((entry) => chosen.includes(entry) || neutral.has(entry.program));
}

/** Throws `invalid-pattern` for a pattern that is too long. */
export function checkPatterns(commands: readonly string[] = []): void {
  commands.forEach(compile);
}

function compile(glob: string): GlobMatcher {
  return compileGlob(glob, 'text');
}

function mentions(name: string, action: JudgedAction, context: AnalyzeContext): boolean {
  const expression = new RegExp(`(?<![A-Za-z0-9_])${name}(?![A-Za-z0-9_])`);
  return describeAction(definitionOf(action, context), action).some((item) => {
    if (item.kind === 'shell') return expression.test(item.source);
    return item.kind === 'argv' && item.argv.some((word) => expression.test(word));
  });
}
