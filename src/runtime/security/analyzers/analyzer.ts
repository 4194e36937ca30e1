/** What judges an action, and the words it judges in. */

import type { ActionDefinition } from '../../../protocol/index.js';
import type { Unfolded } from './actions/unfold.js';
import type { RuleFile } from './programs/rule-file.js';
import type { Memory } from './shell/memory.js';

/** From harmless to dangerous. `unknown` stands above `medium`: what nobody could judge may be anything. */
const risks = ['low', 'medium', 'unknown', 'high'] as const;

/** How risky an action is, mildest first. */
export type Risk = (typeof risks)[number];

/** An action as analyzers see it: what its fields are, its definition says. */
export type JudgedAction = { readonly action: string } & { readonly [field: string]: unknown };

/** What an analyzer knows besides the action. */
export interface AnalyzeContext {
  /** The workspace as seen from inside the cell. */
  readonly workspace?: string | undefined;
  /** The home directory as seen from inside the cell. */
  readonly home?: string | undefined;
  /** What the fields of the action are. Default: that of the core action, or verb of the runtime, with its name. */
  readonly definition?: DescribedAction | undefined;
  /** Which cell the action is for. */
  readonly cell?: string | undefined;
  /** What was typed before into the same program, and did not end its line. */
  readonly typed?: string | undefined;
  /** What earlier actions left in the cell. */
  readonly memory?: Memory | undefined;
  /** Where the shell of the action's session said that it is; null when a new one starts. */
  readonly cwd?: string | null | undefined;
  /** What is in the action, read once for all who judge it. */
  readonly unfolded?: (() => Unfolded) | undefined;
  /** Aborted when nobody waits for the verdict. */
  readonly signal?: AbortSignal | undefined;
}

/** The part of a definition that tells what an action does. */
export type DescribedAction = Partial<
  Pick<ActionDefinition, 'kinds' | 'startsProcess' | 'opensSession' | 'readOnly'>
>;

/** What an analyzer says about an action. */
export interface Verdict {
  readonly risk: Risk;
  /** One sentence each; empty for a harmless action. */
  readonly reasons: readonly string[];
  /** True when the analyzer refuses the action itself, which no rule of a policy lifts. */
  readonly refused?: boolean | undefined;
}

/** Judges the risk of an action, without side effects. */
export interface Analyzer {
  readonly name: string;
  /** Rules of a user's own that it reads actions with; the policy reads them in the same way. */
  readonly extensions?: readonly RuleFile[] | undefined;
  analyze(action: JudgedAction, context?: AnalyzeContext): Verdict | Promise<Verdict>;
}

export function strictest(left: Risk, right: Risk): Risk {
  return risks.indexOf(left) >= risks.indexOf(right) ? left : right;
}
