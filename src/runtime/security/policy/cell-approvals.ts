/**
 * Which actions a person allowed for a whole cell: only those whose fields say everything, and only while nothing ran
 * that could change where a path leads. Forgetting one is safe: then the policy asks again.
 */
import { createHash } from 'node:crypto';
import { actions } from '../../../protocol/index.js';
import type { Unfolded } from '../analyzers/actions/unfold.js';
import type { AnalyzeContext, DescribedAction, JudgedAction, Risk } from '../analyzers/analyzer.js';
import { own, wordSet } from '../analyzers/lookup.js';
import type { Memory } from '../analyzers/shell/memory.js';
import { canonical } from './ask-confirmation.js';
import type { AnswerScope, DecisionRecord } from './types.js';

/** How many to remember in one cell. */
const mostKept = 1000;

export interface CellApproval {
  readonly who?: string | undefined;
  readonly requestId?: string | undefined;
}

interface Asked {
  readonly action: JudgedAction;
  readonly risk: Risk;
  /** What asked. */
  readonly by: DecisionRecord['by'];
  readonly unfolded: Unfolded;
  readonly context: Pick<AnalyzeContext, 'cell' | 'memory' | 'definition'>;
}

/** The place for an approval. What ran since it was opened makes `keep` keep nothing. */
interface Place {
  readonly found: CellApproval | undefined;
  keep(approval: CellApproval): void;
}

export class CellApprovals {
  /** By what a cell remembers, which ends with its runtime. */
  readonly #kept = new WeakMap<Memory, Map<string, CellApproval>>();

  /** Undefined for an action that only `once` can allow. */
  open(asked: Asked): Place | undefined {
    const { memory, cell } = asked.context;
    if (memory === undefined || cell === undefined || !saysEverything(asked)) return undefined;
    const kept = this.#kept.get(memory) ?? new Map<string, CellApproval>();
    this.#kept.set(memory, kept);
    const { action, risk, by, unfolded } = asked;
    const { paths } = unfolded;
    const key = createHash('sha256').update(canonical({ action, cell, risk, by, paths })).digest('hex');
    return {
      found: kept.get(key),
      keep: (approval) => {
        kept.set(key, approval);
        if (kept.size > mostKept) kept.delete(kept.keys().next().value ?? '');
      },
    };
  }

  /** A command, code or a moved link can lead the same path elsewhere, so it ends the approvals of its cell. */
  noteAllowed(
    action: JudgedAction,
    { memory, definition }: Pick<AnalyzeContext, 'memory' | 'definition'>,
  ): void {
    if (memory !== undefined && !leavesPaths(action, definition)) this.#kept.delete(memory);
  }
}

/** Only these words allow more than once. */
export function isForCell(scope: AnswerScope | undefined): boolean {
  return scope === 'cell' || scope === 'always';
}

const changesFiles = wordSet('write edit make_dir remove');

/** True for an action of the core after which every path leads where it led before. */
function leavesPaths(action: JudgedAction, definition: DescribedAction | undefined): boolean {
  const core: DescribedAction | undefined = own(actions, action.action);
  if (core === undefined || (definition !== undefined && definition !== core)) return false;
  if (changesFiles.has(action.action)) return true;
  return core.readOnly === true && core.startsProcess !== true && core.opensSession !== true;
}

/** An edit, and text that is appended, make something else of another file. */
function saysEverything({ action, risk, unfolded, context }: Asked): boolean {
  if (!leavesPaths(action, context.definition) || action.action === 'edit' || action.append === true)
    return false;
  return risk !== 'unknown' && unfolded.complete && unfolded.paths.length > 0;
}
