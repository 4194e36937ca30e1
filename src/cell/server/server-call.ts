/**
 * One action that came over the wire. It runs once. The server keeps what it reports as lines of JSON, and any number
 * of readers get those lines from any byte position on, so that a lost connection neither loses nor repeats anything.
 */

import { errorBody, toWorkcellError } from '../../base/http/http-errors.js';
import type { ErrorCode, Observation, Progress, WorkcellError } from '../../protocol/index.js';
import type { Log } from './executor-server-options.js';
import { Journal } from './journal.js';
import { Wakers } from './wakers.js';

/** How far the action may run ahead of its readers, and of the last one when none is there. */
const windowBytes = 1024 * 1024;
const unattendedBytes = 4 * 1024 * 1024;

const pieceBytes = 128 * 1024;

export interface Outcome {
  readonly kind: 'observation' | 'error';
  /** JSON of the observation, or of `{"error":…}`. */
  readonly body: Buffer;
  readonly code?: ErrorCode;
}

export interface Reader extends Disposable {
  /** Byte position in the lines; change it through `moveTo`. */
  readonly position: number;
  moveTo(position: number): void;
}

export interface CallOptions {
  /** Where to keep long progress. */
  file(): string;
  /** The server cancels the action after this long without a reader. */
  readonly graceMs: number;
  readonly log: Log;
}

type Work = (context: {
  signal: AbortSignal;
  onProgress?: ((progress: Progress) => Promise<void> | undefined) | undefined;
}) => Promise<Observation>;

export class Call {
  readonly key: string;
  /** Tells whether a repeated request asks for the same. */
  readonly fingerprint: string;
  /** Whether the text of output follows its line instead of being part of it. */
  readonly framed: boolean;
  /** Settles, never rejects, when there is an outcome. */
  readonly done: Promise<Outcome>;
  /** On a clock that does not jump. */
  endedAt: number | undefined;

  readonly #options: CallOptions;
  readonly #progress: Journal;
  readonly #stop = new AbortController();
  readonly #readers = new Set<{ position: number | undefined }>();
  readonly #wakers = new Wakers();
  #lastLine: Buffer | undefined;
  #taken = 0;
  #held: Promise<void> | undefined;
  #release = (): void => {};
  #grace: NodeJS.Timeout | undefined;

  constructor(
    key: string,
    fingerprint: string,
    work: Work,
    options: CallOptions & { withProgress: boolean; framed: boolean },
  ) {
    this.key = key;
    this.fingerprint = fingerprint;
    this.framed = options.framed;
    this.#options = options;
    this.#progress = new Journal(options.file);
    const onProgress = options.withProgress ? (progress: Progress) => this.#keep(progress) : undefined;
    this.done = this.#run(() => work({ signal: this.#stop.signal, onProgress }));
  }

  get ended(): boolean {
    return this.#lastLine !== undefined;
  }

  /** The size of all reports so far, and of the outcome once it exists. */
  get totalBytes(): number {
    return this.#progress.totalBytes + (this.#lastLine?.length ?? 0);
  }

  /** How much of it we keep. */
  get keptBytes(): number {
    return this.#progress.keptBytes + (this.#lastLine?.length ?? 0);
  }

  get watched(): boolean {
    return this.#readers.size > 0;
  }

  /** The next lines from a position, at most a piece; undefined when it has dropped them. */
  read(position: number): Buffer | undefined {
    const progressBytes = this.#progress.totalBytes;
    if (position >= progressBytes) {
      const start = position - progressBytes;
      return this.#lastLine?.subarray(start, start + pieceBytes) ?? Buffer.alloc(0);
    }
    return this.#progress.read(position);
  }

  /** Resolves when there is more, after a time, or when the signal aborts. */
  change(timeoutMs: number, signal: AbortSignal): Promise<void> {
    return this.#wakers.wait(timeoutMs, signal);
  }

  /** Keeps the action going. Without a position the reader waits for the outcome only and holds nothing back. */
  attach(from?: number): Reader {
    const entry = { position: from };
    this.#readers.add(entry);
    clearTimeout(this.#grace);
    const moved = () => this.#letGo();
    moved();
    return {
      get position() {
        return entry.position ?? 0;
      },
      moveTo: (position) => {
        entry.position = position;
        this.#taken = Math.max(this.#taken, position);
        moved();
      },
      [Symbol.dispose]: () => {
        if (!this.#readers.delete(entry)) return;
        moved();
        if (this.#readers.size === 0 && !this.ended) this.#startGrace();
      },
    };
  }

  cancel(): void {
    this.#stop.abort();
    this.#letGo();
  }

  /** Forgets everything. */
  dispose(): void {
    clearTimeout(this.#grace);
    this.#progress.dispose();
  }

  async #run(work: () => Promise<Observation>): Promise<Outcome> {
    const { line, ...outcome } = await work().then(observed, (thrown: unknown) =>
      failed(toWorkcellError(thrown, this.#options.log)),
    );
    this.#lastLine = line;
    this.endedAt = performance.now();
    clearTimeout(this.#grace);
    this.#letGo();
    this.#wakers.wake();
    return outcome;
  }

  #keep(progress: Progress): Promise<void> | undefined {
    if (this.framed && progress.type === 'output-delta') {
      const { text, ...rest } = progress;
      const textBytes = Buffer.byteLength(text);
      this.#progress.append(`${JSON.stringify({ progress: rest, textBytes })}\n`);
      this.#progress.append(text);
    } else this.#progress.append(`{"progress":${JSON.stringify(progress)}}\n`);
    this.#wakers.wake();
    if (this.#hasRoom()) return undefined;
    this.#held ??= new Promise((resolve) => {
      this.#release = resolve;
    });
    return this.#held;
  }

  #letGo(): void {
    if (this.#held === undefined || !this.#hasRoom()) return;
    this.#held = undefined;
    this.#release();
  }

  /** Whether the slowest reader is near enough for the action to continue. */
  #hasRoom(): boolean {
    if (this.ended || this.#stop.signal.aborted) return true;
    const positions = [...this.#readers]
      .map(({ position }) => position)
      .filter((position) => position !== undefined);
    if (positions.length > 0) return this.#progress.totalBytes - Math.min(...positions) <= windowBytes;
    return this.#readers.size > 0 || this.#progress.totalBytes - this.#taken <= unattendedBytes;
  }

  #startGrace(): void {
    clearTimeout(this.#grace);
    this.#grace = setTimeout(() => {
      this.#options.log('warn', 'An action was cancelled because its client did not come back.', {
        key: this.key,
      });
      this.cancel();
    }, this.#options.graceMs);
    this.#grace.unref();
  }
}

/** The body is a part of the line, so that a large one is in memory once. */
function observed(observation: Observation): Outcome & { line: Buffer } {
  const line = Buffer.from(`{"observation":${JSON.stringify(observation)}}\n`);
  return { kind: 'observation', line, body: line.subarray('{"observation":'.length, -2) };
}

function failed(error: WorkcellError): Outcome & { line: Buffer } {
  const line = Buffer.from(`${errorBody(error)}\n`);
  return { kind: 'error', line, body: line.subarray(0, -1), code: error.code };
}
