/** What the service says of cells that are gone, or that cannot be reached. */
import { WorkcellError } from '../protocol/index.js';
import type { CellRecord } from './service-store.js';

export function isGone(error: unknown): boolean {
  if (!WorkcellError.isInstance(error)) return false;
  return error.code === 'cell-not-found' || error.code === 'runtime-disconnected';
}

export function lost({ id }: CellRecord, cause?: unknown): WorkcellError {
  return new WorkcellError(
    'runtime-disconnected',
    `The cell ${id} is lost: it died, or cannot be found any more. Delete it, and make a new one.`,
    { details: { cell: id }, cause },
  );
}

export function stillThere({ id }: CellRecord, cause: unknown): WorkcellError {
  return new WorkcellError(
    'backend-unavailable',
    `The cell ${id} does not answer, so it cannot be ended, and its backend still has it. Try again, or end it there.`,
    { details: { cell: id }, cause },
  );
}

export function unknownTemplate(name: string, known: readonly string[]): WorkcellError {
  return new WorkcellError(
    'not-found',
    `There is no template ${JSON.stringify(name)}. There are: ${known.join(', ')}.`,
    { details: { template: name } },
  );
}

/** For one who looked at a cell while it ran. */
export function pausedMeanwhile(id: string): WorkcellError {
  return new WorkcellError('cell-in-use', `The cell ${id} pauses now; it has no figures then.`, {
    details: { cell: id },
  });
}
