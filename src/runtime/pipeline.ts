/**
 * The way of every action: validate → record → judge → record → execute → mask → record → answer. An action runs once
 * the store has it and the decision about it; the caller gets the answer once the store has the outcome.
 */

import {
  type Action,
  type ActionDefinition,
  type ActionInput,
  type ActionName,
  type Decision,
  type Downloaded,
  type DownloadOptions,
  type ErrorBody,
  type EventSource,
  type ExecuteContext,
  type Executor,
  type Observation,
  type Progress,
  parseAction,
  type Terminal,
  type TerminalOptions,
  type Uploaded,
  type UploadOptions,
  verbs,
  WorkcellError,
  withoutSecrets,
} from '../protocol/index.js';
import { traced } from '../protocol/tracing.js';
import type { EventStream } from './events/stream.js';
import { maskTerminal } from './masked-bytes.js';
import { downloadMasked } from './masked-download.js';
import { isFor, maskOutput, wantedFrom, widened } from './masked-output.js';
import { withMarks } from './progress-marks.js';
import { recorded } from './recorded.js';
import { type Logger, logAction, logDecision } from './runtime-log.js';
import type { JudgedAction } from './security/analyzers/analyzer.js';
import type { Effect } from './security/trusted.js';

/** Judges an action before it runs. It refuses by throwing, and passes each decision to `record` first. */
type Guard = (action: JudgedAction, context: GuardContext) => Promise<void>;

interface GuardContext {
  readonly workspace: string;
  /** The cell of the action: an approval for one cell does not count in another. */
  readonly cell: string;
  /** The kinds of the action's fields. */
  readonly definition: ActionDefinition | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly statedRisk?: ExecuteContext['statedRisk'];
  /** Where the shell of the action's session is, if known; null when a new one starts. */
  readonly cwd?: string | null | undefined;
  readonly record: (decision: Decision) => void;
}

/** Removes secrets from what leaves a cell. */
export interface Mask {
  value<Value>(value: Value): Value;
  /** Like `value`, in turns with other work. */
  observation<Value>(observation: Value): Promise<Value>;
  error(error: ErrorBody): Promise<ErrorBody>;
  /**
   * For the progress of one action. Holds back a piece that may begin a secret until more arrives. `from`: byte
   * positions of streams before which it shows nothing.
   */
  open(from?: Readonly<Record<string, number>>): {
    progress(progress: Progress): Progress | undefined;
    end(): Progress[];
  };
  /** Bytes before or after a piece that can be part of a secret which the piece cuts. */
  readonly reach: number;
  /** A part of some bytes, masked by the secrets in all of them. `sameLength`: one mark for each masked byte. */
  within(bytes: Buffer, start: number, end: number, sameLength: boolean): Promise<Buffer>;
  /** For one stream of bytes; as many come out as go in. */
  bytes(): { write(chunk: Uint8Array): Uint8Array; end(): Uint8Array };
}

type TakeOwn = <Name extends ActionName>(
  action: ActionInput<Name> & { action: Name },
  shown: Shown,
) => Promise<Observation<Name>>;

/** What the record shows in place of fields that are secret or too long for it. */
type Shown = Readonly<Record<string, unknown>>;

/** What the trusted side does with every action. */
export interface Trusted {
  readonly guards?: readonly Guard[] | undefined;
  readonly mask?: Mask | undefined;
  /** Adds what the agent must not write itself, such as secret variables. No event holds what it adds. */
  readonly prepare?:
    | (<Name extends ActionName>(
        action: Action<Name>,
        definition: ActionDefinition | undefined,
      ) => Promise<Action<Name>>)
    | undefined;
  /**
   * The owner's preparation for an action. `take` carries out an action of the owner's, which the pipeline records
   * but does not judge. `signal` comes from the caller; when it aborts, the caller no longer waits.
   */
  readonly before?:
    | ((action: Action, take: TakeOwn, signal: AbortSignal | undefined) => Promise<void> | undefined)
    | undefined;
  /** The value of a secret that may go to a host; throws `denied` for any other. */
  readonly credential?: ((name: string, host: string) => Promise<string>) | undefined;
  /** Gets each action once it has ended or failed. */
  readonly audit?: ((effect: Effect) => void | Promise<void>) | undefined;
  /** Gets a line for each action and for what led to its end. */
  readonly logger?: Logger | undefined;
  /** Releases what these parts hold open, after the runtime closed. */
  readonly release?: (() => void) | undefined;
}

export interface Pipeline extends Trusted {
  readonly executor: Executor;
  readonly events: EventStream;
  readonly workspace: string;
  /** The id of the cell. */
  readonly cell: string;
  /** The directories that the shells of the cell reported, by session; null for a closed one. */
  readonly shells?: Map<string, string | null> | undefined;
  /** Returns what the network rules of the cell refused during an action. */
  readonly network?: { begin(action: object): () => string | undefined } | undefined;
}

/** Where an action came from. */
export interface Origin {
  /** Default: `agent`. */
  readonly source?: EventSource | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How risky the caller finds the action. */
  readonly statedRisk?: ExecuteContext['statedRisk'];
  /** Marks progress in the stream although the caller asks for none. */
  readonly marked?: boolean | undefined;
  readonly shown?: Shown | undefined;
  /** Gets the id of the action's event, once it has one. */
  readonly onRecorded?: ((id: number) => void) | undefined;
}

export async function executeAction<Name extends ActionName>(
  pipeline: Pipeline,
  input: ActionInput<Name>,
  context: ExecuteContext,
  origin: Origin = {},
): Promise<Observation<Name>> {
  const { executor, events, mask, prepare, before } = pipeline;
  const action = parseAction(input, executor.actions) as Action<Name>;
  const definition = executor.actions[action.action];
  const from = { ...origin, ...stated(context), definition };
  return await runRecorded(pipeline, action, from, async (cause) => {
    const take: TakeOwn = (own, shown) =>
      executeAction({ ...pipeline, guards: [] }, own, {}, { source: 'user', shown });
    const first = before?.(action, take, context.signal);
    if (first !== undefined) await first;
    const prepared = prepare === undefined ? action : await prepare(action, definition);
    const isAsked = context.onProgress !== undefined || origin.marked;
    const shownTo = isAsked || events.output.watched ? events.output.tee(context, cause) : context;
    const watched = isAsked ? withMarks(shownTo, events, cause) : shownTo;
    const refused = pipeline.network?.begin(action);
    const observation = await (mask === undefined
      ? executor.execute(prepared, watched)
      : executeMasked(executor, prepared, watched, mask)
    ).then(
      (answer) => withRefusals(pipeline, answer, refused?.()),
      (error: unknown) => {
        refused?.();
        throw error;
      },
    );
    const kept = recorded(observation);
    const shown = kept instanceof Promise ? await kept : kept;
    events.append({ kind: 'observation', cause, observation: shown }, 'environment');
    noteShell(pipeline, observation);
    return { result: observation, observation: shown };
  });
}

/** A command does not know why it could not connect; the agent that ran it should. */
function withRefusals<Name extends ActionName>(
  { mask }: Pipeline,
  observation: Observation<Name>,
  refused: string | undefined,
): Observation<Name> {
  if (refused === undefined || !('endedBy' in observation)) return observation;
  const { notice } = observation as { notice?: string };
  const text = mask === undefined ? refused : mask.value(refused);
  return { ...observation, notice: notice === undefined ? text : `${notice} ${text}` };
}

const mostShells = 1024;

function noteShell({ shells, logger, cell }: Pipeline, observation: object): void {
  const { session, cwd } = observation as { readonly session?: unknown; readonly cwd?: unknown };
  if (shells === undefined || typeof session !== 'string') return;
  const isOpen = typeof cwd === 'string';
  if (logger !== undefined && isOpen !== (typeof shells.get(session) === 'string'))
    logger.debug({ cell, session, cwd }, isOpen ? 'Session opened' : 'Session closed');
  shells.delete(session);
  shells.set(session, typeof cwd === 'string' ? cwd : null);
  if (shells.size > mostShells) shells.delete(shells.keys().next().value ?? '');
}

function stated({ signal, statedRisk }: ExecuteContext): Pick<Origin, 'signal' | 'statedRisk'> {
  return { signal, statedRisk };
}

/**
 * Runs an action of the runtime's owner. It is not the agent's, so nothing judges it, and it gets no secrets. The
 * pipeline records and masks it like everything else.
 */
export function executeForOwner<Name extends ActionName>(
  pipeline: Pipeline,
  input: ActionInput<Name>,
  shown: Shown,
): Promise<Observation<Name>> {
  const own = { ...pipeline, guards: [], prepare: undefined, before: undefined };
  return executeAction(own, input, {}, { source: 'user', shown });
}

/** Guards judge an archive by what it would write, so keep it on this side until we know that. */
export async function uploadFile(
  pipeline: Pipeline,
  path: string,
  content: AsyncIterable<Uint8Array>,
  options: UploadOptions,
): Promise<Uploaded> {
  const { format, mode, signal } = options;
  if (typeof content?.[Symbol.asyncIterator] !== 'function')
    throw new WorkcellError(
      'invalid-action',
      'An upload takes its bytes as an async iterable, behind the path. To upload bytes or a local file, use files.upload.',
    );
  const asked = { action: 'upload', path, format, mode } as const;
  const send = (bytes: AsyncIterable<Uint8Array>) => async () => {
    const result = await pipeline.executor.upload(path, bytes, options);
    return { result, observation: { observation: 'upload', ...result } };
  };
  if (format === undefined || (pipeline.guards ?? []).length === 0)
    return transfer(pipeline, asked, signal, send(content));
  const { keepArchive } = await import('./judged-archive.js');
  const kept = await keepArchive(content, format).catch((error: unknown) => ({ error }));
  // An unreadable archive fails here, and the record shows it as what it is.
  if ('error' in kept)
    return transfer({ ...pipeline, guards: [] }, asked, signal, () => Promise.reject(kept.error));
  using archive = kept;
  const { members, sha256 } = archive;
  return await transfer(pipeline, { ...asked, members, sha256 }, signal, send(archive.content));
}

/** The record shows it as done when its bytes begin to come; the reader sees a later failure. */
export function downloadFile(
  pipeline: Pipeline,
  path: string,
  options: DownloadOptions,
): Promise<Downloaded> {
  const { format, start, end, signal } = options;
  const { executor, mask } = pipeline;
  return transfer(pipeline, { action: 'download', path, format, start, end }, signal, async () => {
    const result = await (mask === undefined
      ? executor.download(path, options)
      : downloadMasked(executor, path, options, mask));
    const { mediaType, sizeBytes } = result;
    return { result, observation: { observation: 'download', mediaType, sizeBytes } };
  });
}

export function openTerminal(pipeline: Pipeline, options: TerminalOptions): Promise<Terminal> {
  return transfer(pipeline, { action: 'open_terminal', ...options }, undefined, async () => {
    const terminal = await pipeline.executor.openTerminal(options);
    const observation = { observation: 'open_terminal', id: terminal.id };
    return { result: maskTerminal(terminal, pipeline.mask), observation };
  });
}

/** Opens a port of the cell, for any number of connections. Nothing masks their bytes. */
export function openPort(
  pipeline: Pipeline,
  port: number,
): Promise<() => ReturnType<NonNullable<Executor['connect']>>> {
  return transfer(pipeline, { action: 'open_port', port }, undefined, async () => {
    const { executor } = pipeline;
    if (executor.connect === undefined)
      throw new WorkcellError('capability-unsupported', 'This backend cannot forward ports of its cells.');
    const connect = executor.connect.bind(executor, port);
    return { result: connect, observation: { observation: 'open_port', port } };
  });
}

/** Judges and records the request of a verb, then runs its steps with a pipeline that does not judge them again. */
export function performVerb<Result>(
  pipeline: Pipeline,
  asked: JudgedAction & { readonly action: keyof typeof verbs },
  work: (steps: Pipeline) => Promise<Result>,
): Promise<Result> {
  return transfer(pipeline, asked, undefined, async () => {
    const result = await work({ ...pipeline, guards: [] });
    return { result, observation: { observation: asked.action } };
  });
}

/** For a stream that is no action of the wire: checks, judges and records it like one. */
async function transfer<Result>(
  pipeline: Pipeline,
  action: JudgedAction & { readonly action: keyof typeof verbs },
  signal: AbortSignal | undefined,
  work: () => Promise<{ result: Result; observation: { observation: string } }>,
): Promise<Result> {
  const { events, mask } = pipeline;
  const given = Object.fromEntries(Object.entries(action).filter(([, value]) => value !== undefined));
  const definition = verbs[action.action];
  return runRecorded(pipeline, parseAction(given, verbs), { signal, definition }, async (cause) => {
    const { result, observation } = await work();
    const shown = mask === undefined ? observation : mask.value(observation);
    events.append({ kind: 'observation', cause, observation: shown }, 'environment');
    return { result, observation: shown };
  });
}

/** Carries an action out as part of a trace, where somebody traces: one span for all of it, one for its execution. */
function runRecorded<Result>(
  pipeline: Pipeline,
  action: JudgedAction,
  from: Origin & { definition: ActionDefinition | undefined },
  work: (cause: number) => Promise<{ result: Result; observation?: unknown }>,
): Promise<Result> {
  const attributes = { 'workcell.cell': pipeline.cell, 'workcell.action': action.action };
  const execute = (cause: number) =>
    traced(
      `execute ${action.action}`,
      () => ({ kind: 'client', attributes }),
      () => work(cause),
    );
  return traced(
    `action ${action.action}`,
    () => ({ attributes }),
    () => runJudged(pipeline, action, from, execute),
  );
}

/** Records an action, judges it and runs it. Records every failure, too, and turns it into one kind of error. */
async function runJudged<Result>(
  { events, guards = [], mask, audit, logger, workspace, cell, shells }: Pipeline,
  action: JudgedAction,
  {
    source = 'agent',
    signal,
    statedRisk,
    onRecorded,
    shown: instead,
    definition,
  }: Origin & { definition: ActionDefinition | undefined },
  work: (cause: number) => Promise<{ result: Result; observation?: unknown }>,
): Promise<Result> {
  const open = withoutSecrets(definition, instead === undefined ? action : { ...action, ...instead });
  const kept = recorded(mask === undefined ? open : mask.value(open));
  const shown = kept instanceof Promise ? await kept : kept;
  const cause = events.append({ kind: 'action', action: shown }, source);
  const begun = logger === undefined ? 0 : performance.now();
  onRecorded?.(cause);
  let decision: Decision | undefined;
  const record = (made: Decision) => {
    decision = mask === undefined ? made : mask.value(made);
    events.append({ kind: 'decision', cause, decision }, made.by === 'person' ? 'user' : 'environment');
    if (logger !== undefined) logDecision(logger, cell, action.action, decision);
  };
  try {
    const { session } = action;
    const cwd = typeof session === 'string' ? shells?.get(session) : undefined;
    const context = { workspace, cell, definition, signal, statedRisk, cwd, record };
    for (const guard of guards) await guard(action, context);
    await events.kept();
    const { result, observation } = await work(cause);
    const audited = audit?.({ action: shown, decision, observation });
    if (audited !== undefined) await audited;
    await events.kept();
    if (logger !== undefined) logAction(logger, cell, action.action, begun, { observation });
    return result;
  } catch (thrown) {
    const error = await toWorkcellError(thrown, mask);
    const said = await recorded(error.toJSON());
    if (logger !== undefined) logAction(logger, cell, action.action, begun, { error: said });
    events.append({ kind: 'error', cause, error: said }, 'environment');
    await audit?.({ action: shown, decision, error: said });
    // The caller must hear of the failure, even if the store cannot keep it.
    await events.kept()?.catch(() => {});
    throw error;
  }
}

async function executeMasked<Name extends ActionName>(
  executor: Executor,
  given: Action<Name>,
  context: ExecuteContext,
  mask: Mask,
): Promise<Observation<Name>> {
  const action = widened(given, mask);
  const answer = await executeShowing(executor, action, context, mask.open(wantedFrom(given)));
  const whole = isFor('read_output', action)
    ? await maskOutput(executor, action, answer as Observation<'read_output'>, mask)
    : answer;
  return await mask.observation(whole as Observation<Name>);
}

async function executeShowing<Name extends ActionName>(
  executor: Executor,
  action: Action<Name>,
  context: ExecuteContext,
  stream: ReturnType<Mask['open']>,
): Promise<Observation<Name>> {
  const { onProgress } = context;
  if (onProgress === undefined) return executor.execute(action, context);
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
async function toWorkcellError(thrown: unknown, mask: Mask | undefined): Promise<WorkcellError> {
  const error = WorkcellError.isInstance(thrown)
    ? thrown
    : new WorkcellError('internal', thrown instanceof Error ? thrown.message : String(thrown), {
        cause: thrown,
      });
  if (mask === undefined) return error;
  const { code, message, details } = await mask.error(error.toJSON());
  return new WorkcellError(code, message, { details: details ?? {} });
}
