/**
 * A runtime as the client side of the Agent Client Protocol: an agent's files and terminals are those of the cell. It fits
 * the SDK's types by shape, so it does not need the package.
 */

import { quote } from '../base/shell-quote.js';
import { type Runtime, WorkcellError } from '../index.js';

/** How a runtime serves an agent. */
export interface AcpOptions {
  /**
   * Answers an agent that asks before it does something by itself, outside of the cell. Default: no. What it does through
   * the client needs no such answer, because the policy of the runtime judges it.
   */
  readonly permit?: ((request: AcpPermissionRequest) => boolean | Promise<boolean>) | undefined;
}

/** What the agent wants to do, and the answers that it offers. */
export interface AcpPermissionRequest {
  readonly sessionId: string;
  readonly toolCall: { readonly title?: string | null; readonly kind?: string | null };
  readonly options: readonly { readonly optionId: string; readonly kind: string }[];
}

/** For `clientCapabilities` of `initialize`. */
export const acpCapabilities = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };

interface InSession {
  readonly sessionId: string;
}
interface OfTerminal extends InSession {
  readonly terminalId: string;
}
interface NewTerminal extends InSession {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly cwd?: string | null;
  readonly outputByteLimit?: number | null;
}
interface FileRange extends InSession {
  readonly path: string;
  readonly line?: number | null;
  readonly limit?: number | null;
}
interface FileContent extends InSession {
  readonly path: string;
  readonly content: string;
}

interface Request<Params> {
  readonly params: Params;
  readonly signal: AbortSignal;
}

/** One handler for each request that an agent sends to its client. */
export interface AcpHandlers {
  'fs/read_text_file'(request: Request<FileRange>): Promise<{ content: string }>;
  'fs/write_text_file'(request: Request<FileContent>): Promise<Record<string, never>>;
  'terminal/create'(request: Request<NewTerminal>): Promise<{ terminalId: string }>;
  'terminal/output'(request: Request<OfTerminal>): Promise<TerminalOutput>;
  'terminal/wait_for_exit'(request: Request<OfTerminal>): Promise<ExitStatus>;
  'terminal/kill'(request: Request<OfTerminal>): Promise<Record<string, never>>;
  'terminal/release'(request: Request<OfTerminal>): Promise<Record<string, never>>;
  'session/request_permission'(
    request: Request<AcpPermissionRequest>,
  ): Promise<{ outcome: { outcome: 'selected'; optionId: string } | { outcome: 'cancelled' } }>;
}

interface ExitStatus {
  readonly exitCode: number | null;
  readonly signal: string | null;
}
interface TerminalOutput {
  readonly output: string;
  readonly truncated: boolean;
  readonly exitStatus?: ExitStatus;
}

/** `app`: what `client()` of the SDK makes. Gives it a handler for everything that an agent asks of a client. */
export function serveAcp<App extends { onRequest(method: '*', handler: never): unknown }>(
  app: App,
  runtime: Runtime,
  options: AcpOptions = {},
): App {
  const register = app.onRequest.bind(app) as (method: string, handler: unknown) => unknown;
  for (const [method, handler] of Object.entries(acpHandlers(runtime, options))) register(method, handler);
  return app;
}

/** The handlers alone. Commands that an agent leaves behind end with the runtime. */
export function acpHandlers(runtime: Runtime, { permit = () => false }: AcpOptions = {}): AcpHandlers {
  const terminals = new Map<string, AcpTerminal>();
  let opening = 0;
  const terminalOf = ({ sessionId, terminalId }: OfTerminal) => {
    const terminal = terminals.get(terminalId);
    if (terminal?.sessionId === sessionId) return terminal;
    throw new WorkcellError('process-not-found', `There is no terminal ${JSON.stringify(terminalId)} here.`);
  };
  return {
    'fs/read_text_file': shown(async ({ path, line, limit }) => {
      const startLine = line ?? 1;
      const endLine = limit == null ? undefined : startLine + limit - 1;
      if (limit === 0) return { content: '' };
      return { content: (await runtime.read(path, { startLine, endLine })).content };
    }),
    'fs/write_text_file': shown(async ({ path, content }) => {
      await runtime.write(path, content);
      return {};
    }),
    'terminal/create': shown(async (wanted) => {
      if (terminals.size + opening >= mostTerminals)
        throw new WorkcellError('rate-limited', `There are ${mostTerminals} terminals. Release one first.`);
      opening++;
      try {
        const terminal = await AcpTerminal.open(runtime, wanted);
        terminals.set(terminal.id, terminal);
        return { terminalId: terminal.id };
      } finally {
        opening--;
      }
    }),
    'terminal/output': shown(async (params) => terminalOf(params).output()),
    'terminal/wait_for_exit': shown((params) => terminalOf(params).exited),
    'terminal/kill': shown(async (params) => {
      await terminalOf(params).kill();
      return {};
    }),
    'terminal/release': shown(async (params) => {
      const terminal = terminalOf(params);
      terminals.delete(terminal.id);
      await terminal.kill();
      return {};
    }),
    'session/request_permission': shown(async (request) => {
      const wanted = (await permit(request)) ? 'allow_once' : 'reject_once';
      const option = request.options.find(({ kind }) => kind === wanted);
      return {
        outcome:
          option === undefined
            ? { outcome: 'cancelled' }
            : { outcome: 'selected', optionId: option.optionId },
      };
    }),
  };
}

/** The SDK sends the message of an error as its details, so begin it with the code. */
function shown<Params, Answer>(
  handle: (params: Params) => Promise<Answer>,
): (request: Request<Params>) => Promise<Answer> {
  return async ({ params }) => {
    try {
      return await handle(params);
    } catch (error) {
      if (!WorkcellError.isInstance(error)) throw error;
      throw new Error(`${error.code}: ${error.message}`, { cause: error });
    }
  };
}

/** Of one runtime; each keeps the end of its output. */
const mostTerminals = 64;

/** An agent that names no limit for its output may have this many bytes. */
const usualBytes = 1_048_576;

/** Output is kept in blocks of this size, however small the pieces are in which it arrives. */
const blockBytes = 16_384;

/** A command whose output an agent looks at when it likes, and of which it gets the end. */
class AcpTerminal {
  readonly id: string;
  readonly sessionId: string;
  readonly exited: Promise<ExitStatus>;
  readonly #runtime: Runtime;
  readonly #limit: number;
  /** The end of the output, with no more blocks in front of it than its limit needs. */
  readonly #blocks: Buffer[] = [];
  /** How much of the last block is written. */
  #used = blockBytes;
  #writtenBytes = 0;
  #status: ExitStatus | undefined;

  /** A command alone is shell source; arguments reach it as they are. */
  static async open(runtime: Runtime, { command, args = [], env = [], cwd, ...wanted }: NewTerminal) {
    const source = args.length === 0 ? command : [command, ...args].map(quote).join(' ');
    const { id } = await runtime.processes.start(source, {
      cwd: cwd ?? undefined,
      env: Object.fromEntries(env.map(({ name, value }) => [name, value])),
    });
    return new AcpTerminal(runtime, id, wanted);
  }

  private constructor(
    runtime: Runtime,
    id: string,
    { sessionId, outputByteLimit }: Omit<NewTerminal, 'command'>,
  ) {
    this.id = id;
    this.sessionId = sessionId;
    this.#runtime = runtime;
    this.#limit = Math.min(outputByteLimit ?? usualBytes, usualBytes);
    this.exited = runtime.processes
      .wait(id, { onOutput: ({ text }) => this.#keep(text) })
      .then(({ exitCode, signal }) => {
        this.#status = { exitCode, signal };
        return this.#status;
      });
    // Nobody may ever ask for its end.
    this.exited.catch(() => {});
  }

  output(): TerminalOutput {
    const all = Buffer.concat(this.#blocks, (this.#blocks.length - 1) * blockBytes + this.#used);
    let from = Math.max(0, all.length - this.#limit);
    // A character that the limit would cut goes with what is before it.
    while (from > 0 && from < all.length && ((all[from] ?? 0) & 0xc0) === 0x80) from++;
    return {
      output: all.toString('utf8', from),
      truncated: this.#writtenBytes > this.#limit,
      ...(this.#status !== undefined && { exitStatus: this.#status }),
    };
  }

  /** Succeeds when the command has ended. */
  async kill(): Promise<void> {
    if (this.#status === undefined) await this.#runtime.processes.signal(this.id, 'SIGKILL').catch(ended);
  }

  #keep(text: string): void {
    const bytes = Buffer.from(text);
    this.#writtenBytes += bytes.length;
    for (let at = 0; at < bytes.length; ) {
      if (this.#used === blockBytes) this.#addBlock();
      const copied = bytes.copy(this.#blocks.at(-1) as Buffer, this.#used, at);
      this.#used += copied;
      at += copied;
    }
  }

  /** Drops the first block when the limit needs no byte of it, nor what is before a character that the limit cuts. */
  #addBlock(): void {
    if ((this.#blocks.length - 1) * blockBytes > this.#limit) this.#blocks.shift();
    this.#blocks.push(Buffer.allocUnsafe(blockBytes));
    this.#used = 0;
  }
}

function ended(error: unknown): void {
  if (!WorkcellError.isInstance(error) || error.code !== 'process-not-found') throw error;
}
