import type { PluginRuntime } from '../cell/plugins/plugin.js';
import {
  type Action,
  type ActionInput,
  type ActionName,
  type Display,
  type ExecuteContext,
  type Executor,
  type Observation,
  parseAction,
  type StatusUpdate,
  type verbs,
  WorkcellError,
} from '../protocol/index.js';
import type { JudgedAction } from './security/analyzers/analyzer.js';

/** How verbs reach the pipeline. */
export interface Call extends Pick<PluginRuntime, 'execute' | 'upload' | 'download' | 'openTerminal'> {
  /**
   * For a verb of several steps: judges and records the caller's request, then runs the steps, which it records and
   * does not judge again.
   */
  perform<Result>(
    asked: JudgedAction & { readonly action: keyof typeof verbs },
    work: (call: Call) => Promise<Result>,
  ): Promise<Result>;
  /** Like `execute`, with `shown` in the record in place of fields that must not stay in it. */
  executeShowing<Name extends ActionName>(
    action: ActionInput<Name> & { action: Name },
    shown: Readonly<Record<string, unknown>>,
  ): Promise<Observation<Name>>;
  /** Reports what the runtime is doing. */
  report?(update: StatusUpdate): void;
  /** Starts a process with a secret on its standard input, which neither the action nor an event carries. */
  startWithSecret?(
    action: ActionInput<'start_process'> & { action: 'start_process' },
    secret: SecretInput,
  ): Promise<Observation<'start_process'>>;
}

/** What the verbs of this package get of a runtime: more than those of plugins from elsewhere. */
export interface OwnRuntime extends Call, PluginRuntime {
  /**
   * For requests of a runtime's owner, not of an agent: nothing judges them, and the record shows them as the user's,
   * with `shown` in place of fields that are too long for a record.
   */
  executeForOwner<Name extends ActionName>(
    action: ActionInput<Name>,
    shown: Readonly<Partial<Record<string, string>>>,
  ): Promise<Observation<Name>>;
}

/** Makes members of a Runtime, each on first use. */
export type OwnVerbs<Members> = {
  readonly [Name in keyof Members]: (runtime: OwnRuntime) => Members[Name];
};

/** What a verb takes besides the fields that are positional arguments. */
export type ActionOptions<Name extends ActionName, Keys extends string = never> = Omit<
  Extract<ActionInput, { action: Name }>,
  'action' | Keys
>;

export interface SecretInput {
  readonly name: string;
  /** The server it is for, which the secret itself must name. */
  readonly host: string;
  /** Turns the value into the input of the process. */
  readonly stdin: (value: string) => string;
}

/** Calls an executor directly, for code that runs beside one and has no pipeline. */
export function callOf(executor: Executor): Call {
  const execute = async <Name extends ActionName>(input: ActionInput<Name>, context?: ExecuteContext) =>
    executor.execute(parseAction(input, executor.actions) as Action<Name>, context);
  return {
    execute,
    perform(_asked, work) {
      return work(this);
    },
    executeShowing: (input) => execute(input),
    upload: (path, content, options) => executor.upload(path, content, options),
    download: (path, options) => executor.download(path, options),
    openTerminal: (options) => executor.openTerminal(options),
  };
}

/** The ports of a cell, for code that runs beside an executor. */
export function portsOf(executor: Executor) {
  return async (port: number) => async () => {
    if (executor.connect !== undefined) return executor.connect(port);
    throw new WorkcellError('capability-unsupported', 'This backend cannot forward ports of its cells.');
  };
}

export type OutputListener = (chunk: {
  text: string;
  stream: 'terminal' | 'stdout' | 'stderr';
  sequence: number;
}) => unknown;

export type DisplayListener = (display: Omit<Display, 'type'>) => unknown;

/** Turns a verb's `signal` and listeners into the executor's context. */
export function toContext(options: {
  signal?: AbortSignal | undefined;
  onOutput?: OutputListener | undefined;
  onDisplay?: DisplayListener | undefined;
}): ExecuteContext {
  const { signal, onOutput, onDisplay } = options;
  if (onOutput === undefined && onDisplay === undefined) return { signal };
  return {
    signal,
    onProgress: (progress) => {
      if (progress.type === 'display') {
        const { type: _, ...display } = progress;
        return onDisplay?.(display);
      }
      if (progress.type !== 'output-delta') return;
      const { text, stream, sequence } = progress;
      return onOutput?.({ text, stream, sequence });
    },
  };
}
