/** One code cell: from its code to its outcome. */
import * as z from 'zod';
import type { ExecuteContext } from '../../../protocol/index.js';
import type { Channel } from './connection-file.js';
import { DisplayBackpressure } from './display-backpressure.js';
import type { Kernel, KernelExit, KernelListener } from './jupyter-kernel.js';
import type { Content, Message } from './jupyter-messages.js';
import type { Notice } from './notices.js';
import type { Outputs } from './outputs.js';

export interface ExecutionOptions {
  readonly code: string;
  readonly timeoutMs?: number | undefined;
  /** Answers for code that asks for input. */
  readonly input?: readonly string[] | undefined;
}

export interface Ended {
  readonly status: 'ok' | 'error';
  readonly endedBy: 'exit' | 'timeout' | 'cancelled' | KernelExit['endedBy'];
  readonly executionCount: number | null;
  readonly notices: readonly Notice[];
}

/** How long an interrupted code cell can take to end before we end its kernel. */
export const graceMs = 800;

const streamSchema = z.object({ name: z.enum(['stdout', 'stderr']), text: z.string() });
const shownSchema = z.object({
  data: z.record(z.string(), z.unknown()),
  transient: z.object({ display_id: z.string().max(512).optional() }).optional(),
});
const errorSchema = z.object({
  ename: z.string().default('Error'),
  evalue: z.string().default(''),
  traceback: z.array(z.string()).default([]),
});
const replySchema = z.object({
  status: z.string(),
  execution_count: z.int().nullish(),
  payload: z.array(z.looseObject({ source: z.string() })).optional(),
});

/** Runs code in a kernel that runs nothing else. Settles when the kernel has reported everything, or has ended. */
export async function executeCell(
  kernel: Kernel,
  options: ExecutionOptions,
  outputs: Outputs,
  context: ExecuteContext,
): Promise<Ended> {
  const execution = new Execution(kernel, options, outputs, context);
  try {
    return await execution.run();
  } finally {
    execution.release();
  }
}

/** Runs code outside of any code cell; returns the text of an expression evaluated after it, if that worked. */
export async function executeSilently(
  kernel: Kernel,
  code: string,
  expression?: string,
  limitMs = silentMs,
): Promise<string | undefined> {
  const request = {
    code,
    silent: true,
    store_history: false,
    user_expressions: expression === undefined ? {} : { value: expression },
    allow_stdin: false,
    stop_on_error: false,
  };
  let late: NodeJS.Timeout | undefined;
  return new Promise<string | undefined>((resolve) => {
    let id = kernel.send('shell', 'execute_request', request);
    late = setTimeout(() => void kernel.kill(), limitMs);
    kernel.listener = {
      onMessage(channel, { parentId, content }) {
        if (channel !== 'shell' || parentId !== id) return;
        if (wasPassedOver(content)) {
          setTimeout(() => {
            id = kernel.send('shell', 'execute_request', request);
          }, againMs);
        } else resolve(expressionSchema.safeParse(content).data?.user_expressions.value.data['text/plain']);
      },
      onOmitted() {},
      onMalformed() {},
    };
    void kernel.ended.then(() => resolve(undefined));
  }).finally(() => {
    clearTimeout(late);
    kernel.listener = undefined;
  });
}

/**
 * Some kernels ignore code that comes within a moment after an error, in case a caller had queued it, and give no
 * sign when they take code again.
 */
function wasPassedOver({ status }: Content): boolean {
  return status === 'abort' || status === 'aborted';
}

/** A kernel that does not run a line of ours in this time is stuck; end it. */
const silentMs = 60_000;

/** Send ignored code again after this time. */
const againMs = 25;

const expressionSchema = z.object({
  user_expressions: z.object({ value: z.object({ data: z.object({ 'text/plain': z.string() }) }) }),
});

class Execution implements KernelListener {
  readonly #kernel: Kernel;
  readonly #options: ExecutionOptions;
  readonly #outputs: Outputs;
  readonly #backpressure: DisplayBackpressure;
  readonly #signal: AbortSignal | undefined;
  readonly #answers: string[];
  readonly #notices: Notice[] = [];
  #id = '';
  #reply: Content | undefined;
  #idle = false;
  #failed = false;
  #malformed = 0;
  #stoppedBy: 'timeout' | 'cancelled' | undefined;
  #timer: NodeJS.Timeout | undefined;
  #grace: NodeJS.Timeout | undefined;
  #again: NodeJS.Timeout | undefined;
  #finish = (): void => {};
  readonly #cancel = () => this.#stop('cancelled');

  constructor(kernel: Kernel, options: ExecutionOptions, outputs: Outputs, context: ExecuteContext) {
    this.#kernel = kernel;
    this.#options = options;
    this.#outputs = outputs;
    this.#signal = context.signal;
    this.#answers = [...(options.input ?? [])];
    this.#backpressure = new DisplayBackpressure(context.onProgress, kernel);
  }

  async run(): Promise<Ended> {
    const { timeoutMs } = this.#options;
    const finished = new Promise<undefined>((resolve) => {
      this.#finish = () => resolve(undefined);
    });
    this.#kernel.listener = this;
    if (timeoutMs !== undefined) this.#timer = setTimeout(() => this.#stop('timeout'), timeoutMs);
    if (this.#signal?.aborted) this.#cancel();
    else this.#signal?.addEventListener('abort', this.#cancel, { once: true });
    if (this.#options.input !== undefined) await Promise.race([this.#kernel.openStdin(), this.#kernel.ended]);
    this.#send();
    const exit = await Promise.race([finished, this.#kernel.ended]);
    await this.#backpressure.drained();
    return this.#conclude(exit);
  }

  #send(): void {
    const { code, input } = this.#options;
    this.#idle = false;
    this.#id = this.#kernel.send('shell', 'execute_request', {
      code,
      silent: false,
      store_history: true,
      user_expressions: {},
      allow_stdin: input !== undefined,
      stop_on_error: false,
    });
  }

  release(): void {
    this.#kernel.listener = undefined;
    clearTimeout(this.#timer);
    clearTimeout(this.#again);
    clearTimeout(this.#grace);
    this.#signal?.removeEventListener('abort', this.#cancel);
  }

  onMessage(channel: Channel, message: Message): void {
    if (message.parentId !== this.#id) return;
    if (channel === 'iopub') this.#publish(message);
    else if (channel === 'stdin' && message.type === 'input_request') this.#answer(message);
    else if (channel === 'shell' && message.type === 'execute_reply') {
      if (wasPassedOver(message.content) && this.#stoppedBy === undefined) {
        this.#again = setTimeout(() => this.#send(), againMs);
        return;
      }
      this.#reply = message.content;
      for (const text of pagedTexts(message.content)) this.#outputs.show({ type: 'display', data: text });
      this.#settle();
    }
  }

  onOmitted(channel: Channel, bytes: number): void {
    this.#outputs.omit(bytes);
    // A reply that is too large to read is still the reply, though not one that reports success.
    if (channel === 'shell') {
      this.#reply = {};
      this.#notices.push({ type: 'reply-too-large', bytes });
      this.#settle();
    }
  }

  onMalformed(): void {
    this.#malformed++;
  }

  #publish({ type, content }: Message): void {
    if (type === 'stream') this.#stream(content);
    else if (type === 'execute_result' || type === 'display_data' || type === 'update_display_data')
      this.#show(type, content);
    else if (type === 'error') this.#fail(content);
    else if (type === 'clear_output') this.#outputs.clear(content.wait === true);
    else if (type === 'status' && content.execution_state === 'idle') {
      this.#idle = true;
      this.#settle();
    }
  }

  #fail(content: Content): void {
    const error = errorSchema.safeParse(content);
    this.#failed = true;
    if (error.success) this.#outputs.error(error.data.ename, error.data.evalue, error.data.traceback);
    else this.onMalformed();
  }

  #stream(content: Content): void {
    const stream = streamSchema.safeParse(content);
    if (!stream.success) {
      this.onMalformed();
      return;
    }
    this.#outputs.stream(stream.data.name, stream.data.text);
    this.#backpressure.push(stream.data.name, stream.data.text);
  }

  #show(type: string, content: Content): void {
    const shown = shownSchema.safeParse(content);
    if (!shown.success) {
      this.onMalformed();
      return;
    }
    const { data, transient } = shown.data;
    const id = transient?.display_id;
    const output = { type: type === 'execute_result' ? ('result' as const) : ('display' as const), data };
    const update = type === 'update_display_data';
    const kept = update ? this.#outputs.update(output, id ?? '') : this.#outputs.show(output, id);
    if (kept === undefined) return;
    this.#backpressure.show({
      kind: kept.type,
      data: kept.data,
      omitted: kept.omitted,
      displayId: id,
      update,
    });
  }

  #answer(request: Message): void {
    const answer = this.#answers.shift();
    if (answer === undefined) {
      this.#notices.push({ type: 'too-few-answers', answers: this.#options.input?.length ?? 0 });
      this.#kernel.interrupt();
      return;
    }
    this.#kernel.send('stdin', 'input_reply', { value: answer, status: 'ok' }, { msg_id: request.id });
  }

  #settle(): void {
    if (this.#idle && this.#reply !== undefined) this.#finish();
  }

  /** Interrupts the code. The kernel keeps its state if the code reacts to the interrupt. */
  #stop(reason: 'timeout' | 'cancelled'): void {
    if (this.#stoppedBy !== undefined) return;
    this.#stoppedBy = reason;
    this.#kernel.interrupt();
    this.#grace = setTimeout(() => void this.#kernel.kill(), graceMs);
  }

  #conclude(exit: KernelExit | undefined): Ended {
    const reply = replySchema.safeParse(this.#reply);
    if (exit !== undefined)
      this.#notices.push(
        this.#stoppedBy === undefined ? { type: 'kernel-died', how: exit } : { type: 'kernel-ended' },
      );
    if (this.#malformed > 0) this.#notices.push({ type: 'malformed', messages: this.#malformed });
    // Only a kernel that says so has run the code to a good end.
    const isOk = !this.#failed && exit === undefined && reply.data?.status === 'ok';
    return {
      status: isOk ? 'ok' : 'error',
      endedBy: this.#stoppedBy ?? exit?.endedBy ?? 'exit',
      executionCount: (reply.success ? reply.data.execution_count : undefined) ?? null,
      notices: this.#notices,
    };
  }
}

/** What code shows through the pager of a person's terminal, such as the help of a function. */
function pagedTexts(content: Content): Record<string, unknown>[] {
  const { payload = [] } = replySchema.safeParse(content).data ?? {};
  const data = payload.filter(({ source }) => source === 'page').map((entry) => entry.data);
  return data.filter((entry) => typeof entry === 'object' && entry !== null) as Record<string, unknown>[];
}
