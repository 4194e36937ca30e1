/** Matches text against regular expressions in a separate thread, which ends if a pattern takes too long. */
import { Worker } from 'node:worker_threads';
import { checkCancelled } from '../../../../base/pace.js';
import { programText } from '../../../../base/program-text.js';
import { WorkcellError } from '../../../../protocol/index.js';
import { invalidPattern } from './regex.js';

const defaultTimeoutMs = 5_000;
const idleMs = 30_000;
const maxHeapMegabytes = 512;

/** One line that matches. `line` counts from 1. */
export interface LineMatch {
  readonly line: number;
  readonly text: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

interface MatchRequest {
  readonly source: string;
  readonly flags: string;
  readonly context: number;
  /** How many matches to give at most, over all contents. */
  readonly limit: number;
  /** The thread takes over their memory. */
  readonly contents: readonly Uint8Array<ArrayBuffer>[];
}

interface Matched {
  /** One list for each content. */
  readonly matches: readonly (readonly LineMatch[])[];
  /** True when it left matches out because their context would have been too long. */
  readonly isFull: boolean;
}

type MatchReply = Matched | { readonly error: string };

/** Keep one thread between searches: starting one takes longer than most searches. */
let idle: { worker: Worker; timer: NodeJS.Timeout } | undefined;

export class Matcher {
  #worker: Worker | undefined;
  readonly #timeoutMs: number;

  constructor(timeoutMs = defaultTimeoutMs) {
    this.#timeoutMs = timeoutMs;
  }

  /** `pattern` is the caller's own text, for messages. Do not use the contents afterwards. */
  async match(request: MatchRequest, pattern: string, signal?: AbortSignal): Promise<Matched> {
    checkCancelled(signal);
    this.#worker ??= takeWorker();
    const reply = await this.#ask(this.#worker, request, pattern, signal);
    if ('error' in reply) throw invalidPattern(pattern, reply.error);
    return reply;
  }

  close(): void {
    if (this.#worker !== undefined) keepWorker(this.#worker);
    this.#worker = undefined;
  }

  #ask(
    worker: Worker,
    request: MatchRequest,
    pattern: string,
    signal: AbortSignal | undefined,
  ): Promise<MatchReply> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        worker.off('message', onReply).off('error', onError).off('exit', onExit);
        signal?.removeEventListener('abort', onAbort);
      };
      const fail = (error: WorkcellError) => {
        settle();
        this.#worker = undefined;
        void worker.terminate();
        reject(error);
      };
      const onReply = (reply: MatchReply) => {
        settle();
        resolve(reply);
      };
      const onError = (error: Error) => fail(invalidPattern(pattern, error.message));
      const onExit = () => fail(invalidPattern(pattern, 'the thread that matches it ended'));
      const onAbort = () => fail(new WorkcellError('cancelled', 'The search was cancelled by the caller.'));
      const timer = setTimeout(() => {
        fail(
          invalidPattern(
            pattern,
            `it takes more than ${this.#timeoutMs} ms to match, as nested repetitions do`,
          ),
        );
      }, this.#timeoutMs);
      worker.on('message', onReply).on('error', onError).on('exit', onExit);
      signal?.addEventListener('abort', onAbort, { once: true });
      worker.postMessage(
        request,
        request.contents.map(({ buffer }) => buffer),
      );
    });
  }
}

function takeWorker(): Worker {
  const kept = idle;
  idle = undefined;
  if (kept === undefined) return startWorker();
  clearTimeout(kept.timer);
  kept.worker.ref();
  return kept.worker;
}

function startWorker(): Worker {
  const limits = { maxOldGenerationSizeMb: maxHeapMegabytes };
  const worker = new Worker(programText('match-lines.cjs', import.meta.url), {
    eval: true,
    // Options of this process, such as `--input-type=module`, must not reach the thread.
    execArgv: [],
    resourceLimits: limits,
  });
  // Do not reuse a thread that fails while idle. Ignore the error: no search depends on it.
  worker.on('error', () => forget(worker));
  worker.on('exit', () => forget(worker));
  return worker;
}

function forget(worker: Worker): void {
  if (idle?.worker !== worker) return;
  clearTimeout(idle.timer);
  idle = undefined;
}

function keepWorker(worker: Worker): void {
  if (idle !== undefined) {
    void worker.terminate();
    return;
  }
  worker.unref();
  const timer = setTimeout(() => {
    forget(worker);
    void worker.terminate();
  }, idleMs);
  timer.unref();
  idle = { worker, timer };
}
