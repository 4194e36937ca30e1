/** One call of a tool, from the request to the answer. */
import {
  type ErrorBody,
  type ErrorCode,
  type ExecuteContext,
  WorkcellError,
} from '../../../protocol/index.js';
import type { Link } from './host-link.js';
import type { HostMessage } from './host-messages.js';
import { deepestResult, graceMs, progressLimit } from './tool-limits.js';

export interface ToolCall {
  /** The kit of the tool. */
  readonly key: string;
  readonly tool: string;
  readonly input: unknown;
  readonly timeoutMs: number;
}

export interface ToolAnswer {
  readonly result: unknown;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
}

type Ended = 'timed-out' | 'cancelled';

export class PendingCall {
  readonly answer: Promise<ToolAnswer>;
  readonly #id: number;
  readonly #call: ToolCall;
  readonly #context: ExecuteContext;
  readonly #link: Link;
  readonly #positions = { stdout: 0, stderr: 0 };
  #timer: NodeJS.Timeout;
  #given: Ended | undefined;
  #told = 0;
  #resolve!: (answer: ToolAnswer) => void;
  #reject!: (error: WorkcellError) => void;

  constructor(id: number, call: ToolCall, context: ExecuteContext, link: Link) {
    this.#id = id;
    this.#call = call;
    this.#context = context;
    this.#link = link;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const { key, tool, input, timeoutMs } = call;
    const cancel = () => this.#giveUp('cancelled');
    context.signal?.addEventListener('abort', cancel, { once: true });
    this.#timer = setTimeout(() => this.#giveUp('timed-out'), timeoutMs);
    const end = () => {
      clearTimeout(this.#timer);
      context.signal?.removeEventListener('abort', cancel);
    };
    this.answer.then(end, end);
    link.send({ type: 'call', id, key, tool, arguments: input, stream: context.onProgress !== undefined });
  }

  receive(message: HostMessage): void {
    const { onProgress } = this.#context;
    switch (message.type) {
      case 'result':
        this.#finish(message);
        break;
      case 'error':
        this.#fail(message.error, { stdout: message.stdout, stderr: message.stderr });
        break;
      case 'output': {
        const { stream, text } = message;
        const sequence = this.#positions[stream];
        this.#positions[stream] += Buffer.byteLength(text);
        this.#tell(() => onProgress?.({ type: 'output-delta', stream, text, sequence }));
        break;
      }
      case 'progress':
        this.#tell(() => onProgress?.({ type: 'tool-progress', value: message.value }));
        break;
      case 'log':
        this.#tell(() => onProgress?.({ type: 'tool-log', message: message.message }));
        break;
    }
  }

  /** The host has ended, and the call with it. */
  fail(reason: string): void {
    if (this.#given !== undefined) {
      this.#reject(this.#ended(this.#given, ' It did not react, so the tool host was replaced.'));
      return;
    }
    this.#reject(
      this.#error(
        'tool-host-lost',
        `The tool host ended during the call of "${this.#call.tool}": ${reason}. The next call starts a new one; state that tools kept is gone.`,
      ),
    );
  }

  #finish({ result, stdout, stderr, truncated }: ToolAnswer): void {
    if (isTooDeep(result)) {
      const problem = `it is nested more than ${deepestResult} levels deep`;
      this.#reject(
        this.#error('invalid-result', `The result of tool "${this.#call.tool}" cannot be used: ${problem}.`),
      );
    } else this.#resolve({ result: result ?? null, stdout, stderr, truncated });
  }

  #fail({ code, message, details = {} }: ErrorBody, printed: { stdout: string; stderr: string }): void {
    const shown = Object.fromEntries(Object.entries(printed).filter(([, text]) => text !== ''));
    if (this.#given !== undefined) this.#reject(this.#ended(this.#given, '', shown));
    else
      this.#reject(this.#error(expected.has(code) ? code : 'tool-failed', message, { ...details, ...shown }));
  }

  /** Asks the host to end the call. A host that does not even answer that is stuck. */
  #giveUp(reason: Ended): void {
    if (this.#given !== undefined) return;
    this.#given = reason;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#link.close('it was stuck in a call'), graceMs);
    this.#link.send({ type: 'cancel', id: this.#id, reason });
  }

  #ended(reason: Ended, more: string, printed: Record<string, string> = {}): WorkcellError {
    const { tool, timeoutMs } = this.#call;
    return reason === 'timed-out'
      ? this.#error(reason, `Tool "${tool}" took longer than ${timeoutMs} ms.${more}`, {
          timeoutMs,
          ...printed,
        })
      : this.#error(reason, `The call of tool "${tool}" was cancelled.${more}`, printed);
  }

  #error(code: ErrorCode, message: string, details: Record<string, unknown> = {}): WorkcellError {
    return new WorkcellError(code, message, { details: { tool: this.#call.tool, ...details } });
  }

  #tell(report: () => unknown): void {
    if (this.#given === undefined && ++this.#told <= progressLimit) report();
  }
}

/** The failures that a host may report; do not believe it in anything else. */
const expected: ReadonlySet<ErrorCode> = new Set(['invalid-arguments', 'invalid-result', 'tool-not-found']);

function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepestResult) return true;
    level = level.flatMap((entry) =>
      typeof entry === 'object' && entry !== null
        ? Object.values(entry).filter((inner) => typeof inner === 'object' && inner !== null)
        : [],
    );
  }
  return false;
}
