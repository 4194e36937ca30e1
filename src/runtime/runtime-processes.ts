import type { ActionInput, Observation, ProcessInfo } from '../protocol/index.js';
import { type Call, type OutputListener, toContext } from './verb-call.js';

type Input<Name extends string> = Omit<
  Extract<ActionInput, { action: Name }>,
  'action' | 'id' | 'argv' | 'command'
>;

interface WriteOptions extends Omit<Input<'write_process'>, 'data'> {
  /** What the record keeps: your data, or only its size in bytes, as for a password. Guards see all of it. */
  readonly record?: 'data' | 'size';
}

/** Plain processes: no terminal, stdout and stderr apart and byte-exact, found again by id. */
export class RuntimeProcesses {
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  /** A string is shell source; an array is a program with its arguments, started without a shell. */
  start(
    command: string | readonly string[],
    options: Input<'start_process'> = {},
  ): Promise<Observation<'start_process'>> {
    const program = typeof command === 'string' ? { command } : { argv: [...command] };
    return this.#call.execute({ action: 'start_process', ...program, ...options });
  }

  async list(): Promise<ProcessInfo[]> {
    return (await this.#call.execute({ action: 'list_processes' })).processes;
  }

  get(id: string): Promise<ProcessInfo> {
    return this.#call.execute({ action: 'get_process', id });
  }

  /** Signals the process and all it started. */
  async signal(id: string, signal = 'SIGTERM'): Promise<void> {
    await this.#call.execute({ action: 'signal_process', id, signal });
  }

  /** Writes to standard input, which `keepStdin` must have left open. */
  async write(id: string, data: string, options: WriteOptions = {}): Promise<void> {
    const { record = 'data', ...rest } = options;
    const action = { action: 'write_process', id, data, ...rest } as const;
    if (record === 'data') await this.#call.execute(action);
    else await this.#call.executeShowing(action, sizeOf(data, rest.encoding));
  }

  /** The result of the process. Aborting `signal` ends the waiting, not the process. */
  wait(
    id: string,
    options: Input<'wait_process'> & { onOutput?: OutputListener; signal?: AbortSignal } = {},
  ): Promise<Observation<'wait_process'>> {
    const { onOutput, signal, ...rest } = options;
    return this.#call.execute({ action: 'wait_process', id, ...rest }, toContext({ onOutput, signal }));
  }
}

/** No digest: a reader of the record could try passwords against it. */
function sizeOf(data: string, encoding: 'utf8' | 'base64' = 'utf8') {
  return { data: `(${Buffer.byteLength(data, encoding)} bytes)`, encoding: 'utf8' };
}
