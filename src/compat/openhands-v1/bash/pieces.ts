/** Collects what a command prints into events: soon enough to be followed, rarely enough to stay few. */
import type { Progress } from '../../../protocol/index.js';
import type { BashEvents, BashOutput } from './events.js';

const largestPiece = 256 * 1024;

/** Output waits this long for more of it; longer for a command that has been running long. */
const shortestWaitMs = 100;
const longestWaitMs = 5000;
const waitShare = 1 / 50;

export class OutputPieces {
  readonly #events: BashEvents;
  readonly #commandId: string;
  readonly #startedAt = performance.now();
  #stdout = '';
  #stderr = '';
  #order = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(events: BashEvents, commandId: string) {
    this.#events = events;
    this.#commandId = commandId;
  }

  add(progress: Progress): void {
    if (progress.type !== 'output-delta') return;
    if (progress.stream === 'stderr') this.#stderr += progress.text;
    else this.#stdout += progress.text;
    if (this.#stdout.length + this.#stderr.length >= largestPiece) this.#flush(null);
    else this.#timer ??= setTimeout(() => this.#flush(null), this.#waitMs());
  }

  /** Publishes the rest with the exit code; `explanation` follows what was printed to stderr. */
  end(exitCode: number, explanation = ''): BashOutput {
    this.#stderr += explanation;
    return this.#flush(exitCode);
  }

  #flush(exitCode: number | null): BashOutput {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const [stdout, stderr] = [this.#stdout || null, this.#stderr || null];
    this.#stdout = '';
    this.#stderr = '';
    return this.#events.publish<BashOutput>({
      kind: 'BashOutput',
      command_id: this.#commandId,
      order: this.#order++,
      exit_code: exitCode,
      stdout,
      stderr,
    });
  }

  #waitMs(): number {
    const share = (performance.now() - this.#startedAt) * waitShare;
    return Math.min(longestWaitMs, Math.max(shortestWaitMs, share));
  }
}

/** The last event with all that is kept of the output in it, for a caller that waits for one answer. */
export function wholeOutput(last: BashOutput, outputs: readonly BashOutput[]): BashOutput {
  const isWhole = outputs.length === last.order + 1;
  const join = (stream: 'stdout' | 'stderr') => {
    const text = outputs.map((output) => output[stream] ?? '').join('');
    if (text === '') return null;
    return isWhole ? text : `[... earlier output was left out ...]\n${text}`;
  };
  return outputs.length === 0 ? last : { ...last, stdout: join('stdout'), stderr: join('stderr') };
}
