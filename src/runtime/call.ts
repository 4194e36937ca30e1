import type { ActionInput, ActionName, ExecuteContext, Executor, Observation } from '../protocol/index.js';

/** The way from the verbs into the pipeline. */
export interface Call extends Pick<Executor, 'upload' | 'download' | 'openTerminal'> {
  execute<Name extends ActionName>(
    action: ActionInput<Name> & { action: Name },
    context?: ExecuteContext,
  ): Promise<Observation<Name>>;
}

export type OutputListener = (chunk: {
  text: string;
  stream: 'terminal' | 'stdout' | 'stderr';
  sequence: number;
}) => unknown;

/** What a verb's `signal` and `onOutput` mean to the executor. */
export function toContext(options: {
  signal?: AbortSignal | undefined;
  onOutput?: OutputListener | undefined;
}): ExecuteContext {
  const { signal, onOutput } = options;
  if (onOutput === undefined) return { signal };
  return {
    signal,
    onProgress: (progress) => {
      if (progress.type !== 'output-delta') return;
      const { text, stream, sequence } = progress;
      return onOutput({ text, stream, sequence });
    },
  };
}
