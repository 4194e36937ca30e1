import { WorkcellError } from '../../protocol/index.js';

/** Why a server did not start, for the process that started it. */
export function startError(thrown: unknown): ReturnType<WorkcellError['toJSON']> {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return (WorkcellError.isInstance(thrown) ? thrown : new WorkcellError('internal', message)).toJSON();
}
