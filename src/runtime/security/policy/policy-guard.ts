/** A policy in the form in which the pipeline of a runtime asks it. */
import { WorkcellError } from '../../../protocol/index.js';
import { type Unfolded, unfold } from '../analyzers/actions/unfold.js';
import type { AnalyzeContext, Analyzer, JudgedAction } from '../analyzers/analyzer.js';
import { extensionsOf } from '../analyzers/ensemble.js';
import { rulesWith } from '../analyzers/programs/builtin-rules.js';
import { Memory } from '../analyzers/shell/memory.js';
import { meaningOf } from './meaning.js';
import { TypedLines } from './typed-lines.js';
import type { DecisionRecord, Policy } from './types.js';

interface GuardContext extends Pick<AnalyzeContext, 'definition' | 'cell' | 'cwd'> {
  readonly workspace: string;
  readonly signal?: AbortSignal | undefined;
  /** The risk that the caller states for the action. */
  readonly statedRisk?: 'low' | 'medium' | 'high' | undefined;
  readonly record: (decision: Omit<DecisionRecord, 'action'>) => void;
}

/** Refuses by throwing `denied` or `confirmation-timeout`; every decision goes to `record` first. */
export function policyGuard(
  policy: Policy,
  analyzers: readonly Analyzer[] = [],
): (action: JudgedAction, context: GuardContext) => Promise<void> {
  const lines = new TypedLines();
  const rules = rulesWith([...(policy.extensions ?? []), ...extensionsOf(analyzers)]);
  const memories = new Map<string | undefined, Memory>();
  return async (action, { record, statedRisk, ...given }) => {
    const memory = memories.get(given.cell) ?? new Memory();
    memories.set(given.cell, memory);
    const context = { ...given, memory };
    const judges = statedRisk === undefined ? analyzers : [...analyzers, caller(statedRisk)];
    const readNow = () => {
      const typed = lines.before(action, context);
      const version = memory.version;
      let read: Unfolded | undefined;
      const unfolded = () => {
        read ??= unfold(action, { ...context, typed: typed?.pending }, rules);
        return read;
      };
      return { typed, version, unfolded };
    };
    let before = readNow();
    for (let round = 1; ; round++) {
      const { typed, unfolded } = before;
      // What it means at the moment of the judgement, not when somebody first looks.
      unfolded();
      const { action: _, ...decision } = await policy.judge(action, {
        ...context,
        unfolded,
        typed: typed?.pending,
        analyzers: judges,
        onPending: ({ action: _, ...rest }) => record(rest),
      });
      if (decision.outcome !== 'allow') {
        record(decision);
        throw refusal(action, decision);
      }
      // Other actions may have run while somebody judged.
      const now = memory.version === before.version ? before : readNow();
      if (now === before || isSame(now, before, context)) {
        record(decision);
        if (now.typed !== undefined) lines.after(now.typed);
        now.unfolded().keep(memory);
        return;
      }
      if (round === mostRounds) {
        const reasons = ['What it means changed each time while it was judged.', ...decision.reasons];
        const refused = { ...decision, outcome: 'deny', by: 'guard', reasons } as const;
        record(refused);
        throw refusal(action, refused);
      }
      before = now;
    }
  };
}

/** How often to judge an action anew whose meaning changes meanwhile. */
const mostRounds = 5;

interface Reading {
  readonly typed: ReturnType<TypedLines['before']>;
  readonly unfolded: () => Unfolded;
}

function isSame(left: Reading, right: Reading, context: AnalyzeContext): boolean {
  if (left.typed?.pending !== right.typed?.pending) return false;
  return meaningOf(left.unfolded(), context) === meaningOf(right.unfolded(), context);
}

function refusal(action: JudgedAction, decision: Omit<DecisionRecord, 'action'>): WorkcellError {
  const { by, risk, reasons, requestId } = decision;
  return new WorkcellError(
    by === 'timeout' ? 'confirmation-timeout' : 'denied',
    `The action "${action.action}" was refused (risk ${risk}, by ${by}): ${reasons.join(' ') || 'the policy says so.'}`,
    { details: { risk, by, reasons: [...reasons], ...(requestId === undefined ? {} : { requestId }) } },
  );
}

/** The strictest of several verdicts counts, so a risk that the caller states can only raise it. */
function caller(risk: 'low' | 'medium' | 'high'): Analyzer {
  const reasons = risk === 'low' ? [] : [`The caller states that it is of ${risk} risk.`];
  return { name: 'caller', analyze: () => ({ risk, reasons }) };
}
