import type { Observation } from '../../protocol/index.js';
import {
  type ActionOptions,
  type DisplayListener,
  type OutputListener,
  type OwnVerbs,
  toContext,
} from '../verb-call.js';

/** How to run a code cell: kernel, limits, and who hears about its output. */
export interface RunCodeOptions extends ActionOptions<'run_code', 'code'> {
  /** Receives the code's output as it comes. A returned promise holds the code back. */
  onOutput?: OutputListener;
  /** Receives the code's displays, such as pictures, as they come. A returned promise holds the code back. */
  onDisplay?: DisplayListener;
  /** Interrupts the code, and ends its kernel if that does not help. */
  signal?: AbortSignal;
}

export interface JupyterVerbs {
  /** Runs code in a kernel that keeps its state between code cells. Code that fails is a result, not an error. */
  runCode(code: string, options?: RunCodeOptions): Promise<Observation<'run_code'>>;
}

export const jupyterVerbs: OwnVerbs<JupyterVerbs> = {
  runCode:
    (runtime) =>
    (code, { onOutput, onDisplay, signal, ...options } = {}) =>
      runtime.execute({ action: 'run_code', code, ...options }, toContext({ onOutput, onDisplay, signal })),
};
