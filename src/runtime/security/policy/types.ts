/** The types of a policy: its parts, its questions, its decisions. */
import type { NetworkAnswer } from '../../../protocol/index.js';
import type { AnalyzeContext, Analyzer, JudgedAction, Risk, Verdict } from '../analyzers/analyzer.js';
import type { PendingStore } from './pending.js';

/** What a rule decides. */
export type Outcome = 'allow' | 'confirm' | 'deny';

/**
 * A rule matches when everything that it names matches. `confirm` and `deny` match when any command, path or host of
 * the action does; `allow` only when every one does, and only up to risk `medium` unless `risk` names more.
 */
export interface PolicyRule {
  readonly decision: Outcome;
  readonly reason?: string | undefined;
  /** Names of actions, such as `run`; `*` matches any text. */
  readonly action?: string | readonly string[] | undefined;
  /** A simple command with its words, such as `npm *`. The policy takes a line of several commands apart first. */
  readonly command?: string | RegExp | readonly (string | RegExp)[] | undefined;
  /**
   * A path from the action, absolute when the policy knows the workspace; `*` stays in one directory, `**` does not.
   */
  readonly path?: string | readonly string[] | undefined;
  readonly host?: string | readonly string[] | undefined;
  readonly tool?: string | readonly string[] | undefined;
  readonly risk?: Risk | readonly Risk[] | undefined;
}

/** The rules of a policy, and whom it asks. */
export interface PolicyOptions {
  /** The first rule that matches decides; with none, the risk does. */
  readonly rules?: readonly PolicyRule[] | undefined;
  /** Default: low allow, medium confirm, high deny, unknown confirm. You cannot allow `unknown`. */
  readonly onRisk?:
    | Partial<Record<'low' | 'medium' | 'high', Outcome> & { unknown: 'confirm' | 'deny' }>
    | undefined;
  /**
   * `by-risk` (default); `always` confirms whatever no rule decides; `never` asks nobody: see
   * docs/guides/security.md.
   */
  readonly mode?: 'by-risk' | 'always' | 'never' | undefined;
  /** Asks a person. Without it, and without `pending`, the policy denies what needs a confirmation. */
  readonly confirm?: ((request: ConfirmationRequest) => Answer | Promise<Answer>) | undefined;
  /** After this time a question counts as denied. Default: 5 minutes. */
  readonly confirmTimeoutMs?: number | undefined;
  /** Keeps questions where they outlive this process and another one can answer them. */
  readonly pending?: PendingStore | undefined;
  /** Whether the file verbs may name paths outside the workspace. Default: as the rules and the risk say. */
  readonly outsideWorkspace?: 'confirm' | 'deny' | undefined;
  /** Who judges the risk. Default: `rules()`. */
  readonly analyzers?: readonly Analyzer[] | undefined;
  /** An analyzer that takes longer counts as `unknown`. Default: 30 seconds. */
  readonly analyzerTimeoutMs?: number | undefined;
  readonly onDecision?: ((record: DecisionRecord) => void) | undefined;
  /** Recorded with each decision. Default: a digest of rules, risks and mode. */
  readonly version?: string | undefined;
}

/** The answer of a person, with their name if known. */
export type Answer =
  | 'approve'
  | 'deny'
  | {
      readonly answer: 'approve' | 'deny';
      readonly who?: string | undefined;
      /** What an approval holds for. Default: `once`. More than once only where the question says `forCell`. */
      readonly scope?: AnswerScope | undefined;
      /** Of a refused action: what the agent reads in the error. */
      readonly word?: string | undefined;
    };

/**
 * What an approval holds for. `once`: this action, this connection. `cell`: until the cell ends; of an action, until
 * something runs in the cell. `always`: also in other cells, for hosts alone.
 */
export type AnswerScope = Exclude<NetworkAnswer, 'deny'>;

/** The question put to a person. */
export interface ConfirmationRequest {
  readonly id: string;
  /** `host`: whether the cell may reach one, which `action` names. Default: whether the action may run. */
  readonly kind?: 'host' | undefined;
  readonly action: JudgedAction;
  readonly risk: Risk;
  readonly reasons: readonly string[];
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
  readonly expiresAt: number;
  /** Binds an answer to exactly this action in this cell. */
  readonly digest: string;
  /** The cell that the action is for; an answer counts there and nowhere else. */
  readonly cell?: string | undefined;
  /** True where an approval can hold for the cell. Otherwise it counts once, whatever scope it has. */
  readonly forCell?: boolean | undefined;
  /** Aborts when nobody wants the answer any more. */
  readonly signal?: AbortSignal | undefined;
}

/** The decision about one action, and its grounds. */
export interface DecisionRecord {
  readonly at: number;
  readonly outcome: 'allow' | 'deny' | 'pending';
  readonly by: 'rule' | 'risk' | 'boundary' | 'guard' | 'person' | 'timeout' | 'nobody';
  /** The person who answered, where known. */
  readonly who?: string | undefined;
  readonly action: JudgedAction;
  readonly risk: Risk;
  readonly reasons: readonly string[];
  readonly verdicts: readonly (Verdict & { readonly analyzer: string })[];
  readonly policyVersion: string;
  readonly requestId?: string | undefined;
}

/** What a policy knows besides the action. */
export interface JudgeContext extends AnalyzeContext {
  /** Further analyzers, besides those of the policy. */
  readonly analyzers?: readonly Analyzer[] | undefined;
  /** Gets the record when the policy asks a person, before the answer. */
  readonly onPending?: ((record: DecisionRecord) => void) | undefined;
}

/** Decides which actions run, ask or fail. */
export interface Policy {
  readonly version: string;
  /** The user's own rules of its analyzers. */
  readonly extensions?: Analyzer['extensions'];
  judge(action: JudgedAction, context?: JudgeContext): Promise<DecisionRecord>;
}
