/** What judges an action, and the words it judges in. */

/** From harmless to dangerous. `unknown` stands above `medium`: what nobody could judge may be anything. */
const risks = ['low', 'medium', 'unknown', 'high'] as const;

export type Risk = (typeof risks)[number];

/** An action as analyzers see it. Fields are read by name, so an action that is added later is judged too. */
export type JudgedAction = { readonly action: string } & { readonly [field: string]: unknown };

export interface AnalyzeContext {
  /** The workspace as seen from inside the cell. */
  readonly workspace?: string | undefined;
  /** The home directory as seen from inside the cell. */
  readonly home?: string | undefined;
  /** Aborted when nobody waits for the verdict any more. */
  readonly signal?: AbortSignal | undefined;
}

export interface Verdict {
  readonly risk: Risk;
  /** One sentence each; empty for a harmless action. */
  readonly reasons: readonly string[];
  /** True when the analyzer refuses the action itself, which no rule of a policy lifts. */
  readonly refused?: boolean | undefined;
}

export interface Analyzer {
  readonly name: string;
  analyze(action: JudgedAction, context?: AnalyzeContext): Verdict | Promise<Verdict>;
}

export function strictest(left: Risk, right: Risk): Risk {
  return risks.indexOf(left) >= risks.indexOf(right) ? left : right;
}
