/** The analyzer that needs no model: it reads what an action carries by its grammar and meaning. */
import { unfold } from './actions/unfold.js';
import type { AnalyzeContext, Analyzer, JudgedAction, Verdict } from './analyzer.js';
import { loadRules, type RuleExtension } from './load-rules.js';
import { rulesWith } from './programs/builtin-rules.js';

/** The rules as an analyzer that answers at once. */
export interface RulesAnalyzer extends Analyzer {
  analyze(action: JudgedAction, context?: AnalyzeContext): Verdict;
}

/** What `rules` takes. */
export interface RulesOptions {
  /**
   * Your own rules beside those of this package: files, or the results of `loadRules`. They add risks, and name
   * harmless uses in a section of its own.
   */
  readonly extend?: string | RuleExtension | readonly (string | RuleExtension)[] | undefined;
}

/** Judges by fixed rules: shell commands, processes, code, file paths, addresses and variables. Never asks anybody. */
export function rules({ extend = [] }: RulesOptions = {}): RulesAnalyzer {
  const extensions = [extend].flat().map((entry) => (typeof entry === 'string' ? loadRules(entry) : entry));
  const own = rulesWith(extensions);
  return {
    name: 'rules',
    extensions,
    analyze(action, context = {}) {
      const shared = context.unfolded?.();
      // Do not share a reading made with other rules: their harmless uses would count here.
      return (shared?.rules === own ? shared : unfold(action, context, own)).findings.verdict();
    },
  };
}
