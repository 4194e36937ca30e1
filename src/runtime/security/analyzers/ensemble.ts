import { type Analyzer, type Risk, strictest, type Verdict } from './analyzer.js';
import type { RuleFile } from './programs/rule-file.js';

/** One analyzer out of several: the strictest verdict counts, and one that fails counts as `unknown`. */
export function ensemble(analyzers: readonly Analyzer[]): Analyzer {
  return {
    name: `ensemble(${analyzers.map(({ name }) => name).join(', ')})`,
    extensions: extensionsOf(analyzers),
    async analyze(action, context = {}) {
      const verdicts = await Promise.all(
        analyzers.map(async (analyzer): Promise<Verdict> => {
          try {
            return await analyzer.analyze(action, context);
          } catch (error) {
            const message = error instanceof Error ? error.message : String(error);
            return { risk: 'unknown', reasons: [`Analyzer ${analyzer.name} failed: ${message}`] };
          }
        }),
      );
      return mergeVerdicts(verdicts);
    },
  };
}

/** The strictest risk and all reasons; `unknown` when no analyzer has judged. */
export function mergeVerdicts(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.length === 0) return { risk: 'unknown', reasons: ['No analyzer judged the action.'] };
  const risk = verdicts.map((verdict) => verdict.risk).reduce<Risk>(strictest, 'low');
  const reasons = [...new Set(verdicts.flatMap((verdict) => verdict.reasons))];
  return verdicts.some((verdict) => verdict.refused) ? { risk, reasons, refused: true } : { risk, reasons };
}

/** The user's own rules of any of them. */
export function extensionsOf(analyzers: readonly Analyzer[]): readonly RuleFile[] {
  return [...new Set(analyzers.flatMap(({ extensions = [] }) => extensions))];
}
