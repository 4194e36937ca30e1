/**
 * The way of every action: validate → record → judge → record → execute → mask → record → answer. An action runs once
 * it and the decision about it are kept, and is answered once its outcome is.
 */

import {
  type Action,
  type ActionInput,
  type ActionName,
  type Decision,
  type ErrorBody,
  type EventSource,
  type ExecuteContext,
  type Executor,
  type Observation,
  type Progress,
  parseAction,
  type Terminal,
  WorkcellError,
} from '../protocol/index.js';
import type { EventStream } from './events/stream.js';
import { withMarks } from './progress-marks.js';
import type { JudgedAction } from './security/analyzers/analyzer.js';
import type { Effect } from './security/trusted.js';

/** Judges an action before it runs. It refuses by throwing, and gives each decision to `record` first. */
type Guard = (action: JudgedAction, context: GuardContext) => Promise<void>;

interface GuardContext {
  readonly workspace: string;
  readonly signal?: AbortSignal | undefined;
  readonly record: (decision: Decision) => void;
}

/** Removes secrets from what leaves a cell. */
export interface Mask {
  value<Value>(value: Value): Value;
  observation<Name extends ActionName>(observation: Observation<Name>): Observation<Name>;
  error(error: ErrorBody): ErrorBody;
  /** For the progress of one action; a piece that may be the beginning of a secret is held back until more is known. */
  open(): { progress(progress: Progress): Progress | undefined; end(): Progress[] };
  /** For one stream of bytes. */
  bytes(): { write(chunk: Uint8Array): Uint8Array; end(): Uint8Array };
}

/** What the trusted side does with every action. */
export interface Trusted {
  readonly guards?: readonly Guard[] | undefined;
  readonly mask?: Mask | undefined;
  /** Adds what the agent must not write itself, such as secret variables. What it adds is in no event. */
  readonly prepare?: (<Name extends ActionName>(action: Action<Name>) => Promise<Action<Name>>) | undefined;
  /** The value of a secret that may be sent to a host; throws `denied` for any other. */
  readonly credential?: ((name: string, host: string) => Promise<string>) | undefined;
  /** Told of each action once it has ended or was refused. */
  readonly audit?: ((effect: Effect) => void | Promise<void>) | undefined;
  /** Lets go of what these parts hold open, once the runtime is closed. */
  readonly release?: (() => void) | undefined;
}

export interface Pipeline extends Trusted {
  readonly executor: Executor;
  readonly events: EventStream;
  readonly workspace: string;
}

/** Where an action came from. */
export interface Origin {
  /** Default: `agent`. */
  readonly source?: EventSource | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Progress is marked in the stream although the caller asks for none. */
  readonly marked?: boolean | undefined;
  /** Told the id of the event of the action, once it has one. */
  readonly onRecorded?: ((id: number) => void) | undefined;
}

export async function executeAction<Name extends ActionName>(
  pipeline: Pipeline,
  input: ActionInput<Name>,
  context: ExecuteContext,
  origin: Origin = {},
): Promise<Observation<Name>> {
  const { executor, events, mask, prepare } = pipeline;
  const action = parseAction(input, executor.actions) as Action<Name>;
  return await accompany(pipeline, action, { ...origin, signal: context.signal }, async (cause) => {
    const prepared = prepare === undefined ? action : await prepare(action);
    const watched =
      context.onProgress !== undefined || origin.marked ? withMarks(context, events, cause) : context;
    const answer = await (mask === undefined
      ? executor.execute(prepared, watched)
      : executeMasked(executor, prepared, watched, mask));
    const observation = mask === undefined ? answer : mask.observation(answer);
    events.append({ kind: 'observation', cause, observation }, 'environment');
    return { result: observation, observation };
  });
}

/**
 * Puts tools into the cell because its owner registered them. That is nothing of the agent's, so nobody judges it; it
 * is recorded like everything else, without the source.
 */
export async function installTools(
  pipeline: Pipeline,
  input: ActionInput<'install_tools'>,
): Promise<Observation<'install_tools'>> {
  const { executor, events } = pipeline;
  const action = parseAction(input, executor.actions) as Action<'install_tools'>;
  const shown = { ...action, source: `${Buffer.byteLength(action.source)} bytes` };
  return await accompany({ ...pipeline, guards: [] }, shown, { source: 'user' }, async (cause) => {
    const observation = await executor.execute<'install_tools'>(action);
    events.append({ kind: 'observation', cause, observation }, 'environment');
    return { result: observation, observation };
  });
}

/** Records an action, has it judged, and sees to it that whatever fails is recorded and leaves as one kind of error. */
export async function accompany<Result>(
  { events, guards = [], mask, audit, workspace }: Pipeline,
  action: JudgedAction,
  { source = 'agent', signal, onRecorded }: Origin,
  work: (cause: number) => Promise<{ result: Result; observation?: unknown }>,
): Promise<Result> {
  const shown = mask === undefined ? action : mask.value(action);
  const cause = events.append({ kind: 'action', action: shown }, source);
  onRecorded?.(cause);
  let decision: Decision | undefined;
  const record = (made: Decision) => {
    decision = mask === undefined ? made : mask.value(made);
    events.append({ kind: 'decision', cause, decision }, made.by === 'person' ? 'user' : 'environment');
  };
  try {
    for (const guard of guards) await guard(action, { workspace, signal, record });
    await events.kept();
    const { result, observation } = await work(cause);
    const audited = audit?.({ action: shown, decision, observation });
    if (audited !== undefined) await audited;
    await events.kept();
    return result;
  } catch (thrown) {
    const error = toWorkcellError(thrown, mask);
    events.append({ kind: 'error', cause, error: error.toJSON() }, 'environment');
    await audit?.({ action: shown, decision, error: error.toJSON() });
    // The failure is what the caller must hear of, also where it is that nothing can be kept.
    await events.kept()?.catch(() => {});
    throw error;
  }
}

/** A terminal whose output shows no secret. */
export function maskTerminal(terminal: Terminal, mask: Mask | undefined): Terminal {
  if (mask === undefined) return terminal;
  return Object.create(terminal, { output: { value: maskBytes(terminal.output, mask) } }) as Terminal;
}

export async function* maskBytes(chunks: AsyncIterable<Uint8Array>, mask: Mask): AsyncIterable<Uint8Array> {
  const masker = mask.bytes();
  for await (const chunk of chunks) {
    const shown = masker.write(chunk);
    if (shown.length > 0) yield shown;
  }
  const rest = masker.end();
  if (rest.length > 0) yield rest;
}

async function executeMasked<Name extends ActionName>(
  executor: Executor,
  action: Action<Name>,
  context: ExecuteContext,
  mask: Mask,
): Promise<Observation<Name>> {
  const { onProgress } = context;
  if (onProgress === undefined) return executor.execute(action, context);
  const stream = mask.open();
  try {
    return await executor.execute(action, {
      ...context,
      onProgress: (progress) => {
        const shown = stream.progress(progress);
        return shown === undefined ? undefined : onProgress(shown);
      },
    });
  } finally {
    for (const rest of stream.end()) await onProgress(rest);
  }
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
