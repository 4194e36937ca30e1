/** The way of every action: validate → judge → record → execute → mask → record → answer. */
import type { EventStream } from '../events/stream.js';
import {
  type Action,
  type ActionInput,
  type ActionName,
  type ErrorBody,
  type ExecuteContext,
  type Executor,
  type Observation,
  type Progress,
  parseAction,
  WorkcellError,
} from '../protocol/index.js';

/** Judges an action before it runs. It refuses by throwing. */
export type Guard = (action: Action) => Promise<void>;

/** Removes secrets from what leaves a cell. */
export interface Mask {
  observation<Name extends ActionName>(observation: Observation<Name>): Observation<Name>;
  progress(progress: Progress): Progress;
  error(error: ErrorBody): ErrorBody;
}

export interface Pipeline {
  readonly executor: Executor;
  readonly events: EventStream;
  readonly guards: readonly Guard[];
  readonly mask: Mask | undefined;
}

export async function executeAction<Name extends ActionName>(
  pipeline: Pipeline,
  input: ActionInput<Name>,
  context: ExecuteContext,
): Promise<Observation<Name>> {
  const { executor, events, guards, mask } = pipeline;
  const action = parseAction(input) as Action<Name>;
  for (const guard of guards) await guard(action);
  const cause = events.append({ kind: 'action', action }, 'agent');
  try {
    const answer = await executor.execute(action, mask === undefined ? context : masked(context, mask));
    const observation = mask === undefined ? answer : mask.observation(answer);
    events.append({ kind: 'observation', cause, observation }, 'environment');
    return observation;
  } catch (thrown) {
    const error = toWorkcellError(thrown, mask);
    events.append({ kind: 'error', cause, error: error.toJSON() }, 'environment');
    throw error;
  }
}

function masked(context: ExecuteContext, mask: Mask): ExecuteContext {
  const { onProgress } = context;
  if (onProgress === undefined) return context;
  return { ...context, onProgress: (progress) => onProgress(mask.progress(progress)) };
}

/** Gives every failure a code, so that callers meet one kind of error only. */
function toWorkcellError(thrown: unknown, mask: Mask | undefined): WorkcellError {
  const error = WorkcellError.isInstance(thrown)
    ? thrown
    : new WorkcellError('internal', thrown instanceof Error ? thrown.message : String(thrown), {
        cause: thrown,
      });
  if (mask === undefined) return error;
  const { code, message, details } = mask.error(error.toJSON());
  return new WorkcellError(code, message, { details: details ?? {} });
}
