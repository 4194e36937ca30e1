/** Decides about actions: boundary, then the first rule that matches, then the risk. Whatever fails, fails closed. */
import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { withoutSecrets } from '../../../protocol/index.js';
import { definitionOf, type Unfolded, unfold } from '../analyzers/actions/unfold.js';
import type { Analyzer, JudgedAction, Verdict } from '../analyzers/analyzer.js';
import { extensionsOf, mergeVerdicts } from '../analyzers/ensemble.js';
import { rulesWith } from '../analyzers/programs/builtin-rules.js';
import { rules } from '../analyzers/rules.js';
import { askPerson, canonical } from './ask-confirmation.js';
import { CellApprovals, isForCell } from './cell-approvals.js';
import { checkOptions } from './check-options.js';
import { compileRule, Subject } from './match.js';
import { meaningOf } from './meaning.js';
import type { DecisionRecord, JudgeContext, Outcome, Policy, PolicyOptions, PolicyRule } from './types.js';

const defaultRisk = { low: 'allow', medium: 'confirm', high: 'deny', unknown: 'confirm' } as const;

/** Makes a policy. Throws `invalid-config` for rules that cannot hold, `invalid-pattern` for patterns that are too long. */
export function policy(options: PolicyOptions = {}): Policy {
  checkOptions(options);
  const analyzers = options.analyzers ?? [rules()];
  const version = options.version ?? digest(options);
  const extensions = extensionsOf(analyzers);
  const readWith = rulesWith(extensions);
  const compiled = (options.rules ?? []).map((rule) => ({ rule, matches: compileRule(rule) }));
  const approvals = new CellApprovals();
  return {
    version,
    extensions,
    async judge(action, context = {}) {
      const judges = [...analyzers, ...(context.analyzers ?? [])];
      let read: Unfolded | undefined;
      const unfolded = () => {
        read ??= context.unfolded?.() ?? unfold(action, context, readWith);
        return read;
      };
      const verdicts = await Promise.all(
        judges.map((analyzer) =>
          analyzeSafely(analyzer, action, { ...context, unfolded }, options.analyzerTimeoutMs ?? 30_000),
        ),
      );
      const { risk, reasons: found, refused } = mergeVerdicts(verdicts);
      const { outcome, by, reason } = decide(
        new Subject(action, risk, unfolded, context),
        options,
        compiled,
        refused === true,
        context,
      );
      const reasons = reason === undefined ? found : [reason, ...found.filter((text) => text !== reason)];
      const base = { at: Date.now(), action, risk, reasons, verdicts, policyVersion: version };
      const finish = (record: DecisionRecord) => {
        if (record.outcome === 'allow') approvals.noteAllowed(action, context);
        options.onDecision?.(record);
        return record;
      };
      if (outcome !== 'confirm') return finish({ ...base, outcome, by });
      const forCell = approvals.open({ action, risk, by, unfolded: unfolded(), context });
      if (forCell?.found !== undefined)
        return finish({
          ...base,
          ...forCell.found,
          outcome: 'allow',
          by: 'person',
          reasons: ['A person allowed it for this cell.', ...reasons],
        });
      const answer = await askPerson(
        {
          action,
          risk,
          reasons,
          shown: withoutSecrets(definitionOf(action, context), action),
          cell: context.cell,
          forCell: forCell !== undefined,
          typed: context.typed,
          meaning: meaningOf(unfolded(), context),
          signal: context.signal,
          onAsked: (requestId) => context.onPending?.({ ...base, outcome: 'pending', by, requestId }),
        },
        options,
      );
      const { who, requestId } = answer;
      const keeps = forCell !== undefined && answer.approved && isForCell(answer.scope);
      if (keeps) forCell.keep({ who, requestId });
      const said = keeps ? 'A person allowed it for this cell.' : answer.reason;
      return finish({
        ...base,
        at: Date.now(),
        outcome: answer.approved ? 'allow' : 'deny',
        by: answer.by,
        who,
        requestId,
        reasons: said === undefined ? reasons : [said, ...reasons],
      });
    },
  };
}

interface Decided {
  readonly outcome: Outcome;
  readonly by: DecisionRecord['by'];
  readonly reason?: string | undefined;
}

function decide(
  subject: Subject,
  options: PolicyOptions,
  compiled: readonly { rule: PolicyRule; matches: (subject: Subject) => boolean }[],
  refused: boolean,
  { workspace }: JudgeContext,
): Decided {
  if (refused) return { outcome: 'deny', by: 'guard' };
  const outside = options.outsideWorkspace === undefined ? undefined : pathOutside(subject, workspace);
  if (outside !== undefined && options.outsideWorkspace === 'deny')
    return { outcome: 'deny', by: 'boundary', reason: `The path is outside the workspace: ${outside}` };
  const rule = compiled.find(({ matches }) => matches(subject))?.rule;
  // Only a rule that denies goes before the question at the boundary.
  if (outside !== undefined && rule?.decision !== 'deny')
    return inMode(
      { outcome: 'confirm', by: 'boundary', reason: `The path is outside the workspace: ${outside}` },
      subject,
      options,
    );
  if (rule !== undefined)
    return inMode({ outcome: rule.decision, by: 'rule', reason: rule.reason }, subject, options);
  const outcome = { ...defaultRisk, ...options.onRisk }[subject.risk];
  if (options.mode === 'always' && outcome === 'allow') return { outcome: 'confirm', by: 'risk' };
  return inMode({ outcome, by: 'risk' }, subject, options);
}

/** Where the policy asks nobody, answer a question yes, but never for an action that no rule could judge. */
function inMode(decided: Decided, subject: Subject, { mode }: PolicyOptions): Decided {
  if (mode !== 'never' || decided.outcome !== 'confirm') return decided;
  return { ...decided, outcome: subject.risk === 'unknown' || subject.risk === 'high' ? 'deny' : 'allow' };
}

function pathOutside({ paths }: Subject, workspace: string | undefined): string | undefined {
  if (workspace === undefined) return paths.find((path) => path.startsWith('/') || path.startsWith('..'));
  const root = posix.normalize(workspace).replace(/\/$/, '');
  return paths.find((path) => path !== root && !path.startsWith(`${root}/`));
}

async function analyzeSafely(
  analyzer: Analyzer,
  action: JudgedAction,
  context: JudgeContext,
  timeoutMs: number,
): Promise<Verdict & { analyzer: string }> {
  const { name } = analyzer;
  let stop: AbortController | undefined;
  let timer: NodeJS.Timeout | undefined;
  try {
    const { signal, analyzers: _analyzers, onPending: _onPending, ...known } = context;
    const started = analyzer.analyze(action, {
      ...known,
      // Most analyzers answer at once and never look at it, and creating one costs more than they do.
      get signal() {
        stop ??= new AbortController();
        return signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
      },
    });
    if (!(started instanceof Promise)) return { ...checkVerdict(started), analyzer: name };
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no verdict after ${timeoutMs} ms`)), timeoutMs);
    });
    return { ...checkVerdict(await Promise.race([started, late])), analyzer: name };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { analyzer: name, risk: 'unknown', reasons: [`Analyzer ${name} failed: ${message}`] };
  } finally {
    clearTimeout(timer);
    stop?.abort();
  }
}

/** Anybody can write an analyzer, so check its answer before it counts. */
function checkVerdict(verdict: Verdict): Verdict {
  const { risk, reasons } = (verdict ?? {}) as Partial<Verdict>;
  if (risk === undefined || !['low', 'medium', 'unknown', 'high'].includes(risk) || !Array.isArray(reasons))
    throw new Error('its verdict has no risk and reasons');
  return verdict;
}

function digest({ rules: list, onRisk, mode, outsideWorkspace }: PolicyOptions): string {
  return createHash('sha256')
    .update(canonical({ list, onRisk, mode, outsideWorkspace }))
    .digest('hex')
    .slice(0, 12);
}
