/** Collects a command's output into events: soon enough to follow it, rarely enough to stay few. */
import type { Progress } from '../../../protocol/index.js';
import type { BashEvents, BashOutput } from './bash-events.js';
import type { KeptText } from './kept-text.js';

const largestPiece = 64 * 1024;

/** Output waits this long for more; longer for a command that has been running long. */
const shortestWaitMs = 100;
const longestWaitMs = 5000;
const waitShare = 1 / 50;

export class OutputPieces {
  readonly #events: BashEvents;
  readonly #commandId: string;
  readonly #text: KeptText;
  readonly #startedAt = performance.now();
  /** Where the next event begins. */
  #from = { stdout: 0, stderr: 0 };
  #order = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(events: BashEvents, commandId: string) {
    this.#events = events;
    this.#commandId = commandId;
    this.#text = events.text().hold();
  }

  add(progress: Progress): void {
    if (progress.type !== 'output-delta') return;
    this.#text.append(progress.stream === 'stderr' ? 'stderr' : 'stdout', progress.text);
    if (this.#waiting() >= largestPiece) this.#flush(null);
    else this.#timer ??= setTimeout(() => this.#flush(null), this.#waitMs());
  }

  /** Publishes the rest with the exit code; `explanation` follows the text on stderr. */
  end(exitCode: number, explanation = ''): BashOutput {
    this.#text.append('stderr', explanation);
    const event = this.#flush(exitCode);
    this.#text.release();
    return event;
  }

  #flush(exitCode: number | null): BashOutput {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#text.hold();
    const bytes = this.#waiting();
    const from = this.#from;
    const to = { stdout: text.end('stdout'), stderr: text.end('stderr') };
    this.#from = to;
    return this.#events.publish<BashOutput>(
      {
        kind: 'BashOutput',
        command_id: this.#commandId,
        order: this.#order++,
        exit_code: exitCode,
        get stdout() {
          return text.read('stdout', from.stdout, to.stdout);
        },
        get stderr() {
          return text.read('stderr', from.stderr, to.stderr);
        },
      },
      { bytes, drop: () => text.release() },
    );
  }

  #waiting(): number {
    const { stdout, stderr } = this.#from;
    return this.#text.end('stdout') - stdout + this.#text.end('stderr') - stderr;
  }

  #waitMs(): number {
    const share = (performance.now() - this.#startedAt) * waitShare;
    return Math.min(longestWaitMs, Math.max(shortestWaitMs, share));
  }
}

/** The last event with all kept output in it, for a caller that waits for one answer. `cutNote` says that there was more. */
export function wholeOutput(last: BashOutput, outputs: readonly BashOutput[], cutNote: string): BashOutput {
  const isWhole = outputs.length === last.order + 1;
  const join = (stream: 'stdout' | 'stderr') => {
    const text = outputs.map((output) => output[stream] ?? '').join('');
    if (text === '') return null;
    return isWhole ? text : `${cutNote}${text}`;
  };
  return outputs.length === 0 ? last : { ...last, stdout: join('stdout'), stderr: join('stderr') };
}
