/** The analyzer that needs no model: it reads what an action carries by its grammar and meaning. */
import { unfold } from './actions/unfold.js';
import type { AnalyzeContext, Analyzer, JudgedAction, Verdict } from './analyzer.js';
import { loadRules, type RuleExtension } from './load-rules.js';
import { extendedRules } from './programs/builtin.js';

/** The rules as an analyzer that answers at once. */
export interface RulesAnalyzer extends Analyzer {
  analyze(action: JudgedAction, context?: AnalyzeContext): Verdict;
}

/** What `rules` takes. */
export interface RulesOptions {
  /** Rules of your own beside those of this package: files, or what `loadRules` gave. They add risks, and name harmless uses in a section of its own. */
  readonly extend?: string | RuleExtension | readonly (string | RuleExtension)[] | undefined;
}

/** Judges by fixed rules: shell commands, processes, code, file paths, addresses and variables. Never asks anybody. */
export function rules({ extend = [] }: RulesOptions = {}): RulesAnalyzer {
  const extensions = [extend].flat().map((entry) => (typeof entry === 'string' ? loadRules(entry) : entry));
  if (extensions.length === 0)
    return {
      name: 'rules',
      analyze: (action, context = {}) => (context.unfolded?.() ?? unfold(action, context)).findings.verdict(),
    };
  const extended = extendedRules(extensions);
  // What was unfolded for all who judge was read without these rules.
  return {
    name: 'rules',
    analyze: (action, context = {}) => unfold(action, context, extended).findings.verdict(),
  };
}
