/** Which actions a person allowed for a whole cell. Forgetting one is safe: then the policy asks again. */
import { createHash } from 'node:crypto';
import type { Unfolded } from '../analyzers/actions/unfold.js';
import type { AnalyzeContext, JudgedAction, Risk } from '../analyzers/analyzer.js';
import { canonical } from './ask-confirmation.js';
import type { DecisionRecord } from './types.js';

/** How many to remember, of all cells together. */
const mostKept = 1000;

export interface CellApproval {
  readonly who?: string | undefined;
  readonly requestId?: string | undefined;
}

interface Allowed {
  readonly action: JudgedAction;
  readonly risk: Risk;
  /** What asked. */
  readonly by: DecisionRecord['by'];
  readonly unfolded: Unfolded;
  readonly context: Pick<AnalyzeContext, 'cell' | 'cwd' | 'workspace' | 'typed'>;
}

export class CellApprovals {
  readonly #kept = new Map<string, CellApproval>();

  find(allowed: Allowed): CellApproval | undefined {
    if (this.#kept.size === 0) return undefined;
    const key = keyOf(allowed);
    return key === undefined ? undefined : this.#kept.get(key);
  }

  keep(allowed: Allowed, approval: CellApproval): void {
    const key = keyOf(allowed);
    if (key === undefined) return;
    this.#kept.set(key, approval);
    if (this.#kept.size > mostKept) this.#kept.delete(this.#kept.keys().next().value ?? '');
  }
}

/**
 * The action in its cell with what it means there: in another directory, or with other variables or scripts, the same
 * words are another action. Undefined without a cell.
 */
function keyOf({ action, risk, by, unfolded, context }: Allowed): string | undefined {
  const { cell, cwd, workspace, typed } = context;
  if (cell === undefined) return undefined;
  const { sources, paths, addresses, tools } = unfolded;
  // Each command by itself: those that feed one another are in the list, and nested they can be without end.
  const commands = unfolded.commands.map(({ program, path, args, redirects, input, ...rest }) => {
    const { variables, elevated, cwd: place } = rest;
    const { text, file } = input;
    return { program, path, args, redirects, text, file, variables, elevated, place };
  });
  // A shell that starts begins in the workspace, and the rules read one that told nothing yet as there, too.
  const where = cwd === undefined || cwd === null || cwd === workspace ? '.' : cwd;
  const meaning = { commands, sources, paths, addresses, tools };
  return createHash('sha256')
    .update(canonical({ action, cell, where, typed, risk, by, meaning }))
    .digest('hex');
}
