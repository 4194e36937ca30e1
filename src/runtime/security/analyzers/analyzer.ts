/** The contract of analyzers, which judge an action. */

import type { ActionDefinition } from '../../../protocol/index.js';
import type { Unfolded } from './actions/unfold.js';
import type { RuleFile } from './programs/rule-file.js';
import type { Memory } from './shell/memory.js';

/**
 * From harmless to dangerous. `unknown` stands above `medium`: an action that no rule could judge may do anything.
 */
const risks = ['low', 'medium', 'unknown', 'high'] as const;

/** How risky an action is, mildest first. */
export type Risk = (typeof risks)[number];

/** An action as analyzers see it; its definition says what its fields are. */
export type JudgedAction = { readonly action: string } & { readonly [field: string]: unknown };

/** What an analyzer knows besides the action. */
export interface AnalyzeContext {
  /** The workspace as seen from inside the cell. */
  readonly workspace?: string | undefined;
  /** The home directory as seen from inside the cell. */
  readonly home?: string | undefined;
  /** The kinds of the action's fields. Default: those of the core action, or verb of the runtime, with its name. */
  readonly definition?: DescribedAction | undefined;
  /** Which cell the action is for. */
  readonly cell?: string | undefined;
  /** Text that went to the same program before, and did not end its line. */
  readonly typed?: string | undefined;
  /** What earlier actions left in the cell. */
  readonly memory?: Memory | undefined;
  /** The directory that the shell of the action's session reported; null when a new one starts. */
  readonly cwd?: string | null | undefined;
  /** The content of the action, read once for all analyzers. */
  readonly unfolded?: (() => Unfolded) | undefined;
  /** Aborts when nobody waits for the verdict. */
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
  /** A user's own rules that it reads actions with; the policy reads them in the same way. */
  readonly extensions?: readonly RuleFile[] | undefined;
  analyze(action: JudgedAction, context?: AnalyzeContext): Verdict | Promise<Verdict>;
}

export function strictest(left: Risk, right: Risk): Risk {
  return risks.indexOf(left) >= risks.indexOf(right) ? left : right;
}
