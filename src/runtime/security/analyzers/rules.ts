/** The analyzer that needs no model: it reads what an action carries by its grammar and meaning. */
import { unfold } from './actions/unfold.js';
import type { AnalyzeContext, Analyzer, JudgedAction, Verdict } from './analyzer.js';

/** The rules as an analyzer that answers at once. */
export interface RulesAnalyzer extends Analyzer {
  analyze(action: JudgedAction, context?: AnalyzeContext): Verdict;
}

/** Judges by fixed rules: shell commands, processes, code, file paths, addresses and variables. Never asks anybody. */
export function rules(): RulesAnalyzer {
  return {
    name: 'rules',
    analyze: (action, context = {}) => (context.unfolded?.() ?? unfold(action, context)).findings.verdict(),
  };
}
