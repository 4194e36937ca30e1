/**
 * Tools and the sandbox of a runtime for the AI SDK, version 7. It fits the SDK's types by shape, so it does not need
 * the package.
 */
import { posix } from 'node:path';
import { ReadableStream as NodeReadable, WritableStream as NodeWritable } from 'node:stream/web';
import { type Runtime, WorkcellError } from '../index.js';
import { type AgentTool, type AgentToolOptions, agentTools } from '../runtime/tools/agent-tools.js';
import { exitCodeOf } from '../runtime/tools/exit-code.js';
import { wholeFile } from '../runtime/tools/whole-file.js';

// Signatures use the global streams, which with `lib: dom` differ from those of Node.
type Readable = ReadableStream<Uint8Array>;
type Writable = WritableStream<Uint8Array>;

type Output = Awaited<ReturnType<AgentTool['call']>>;

/** A tool in the form that the AI SDK takes. */
export interface AiSdkTool {
  readonly description: string;
  /** A Standard JSON Schema. */
  readonly inputSchema: {
    readonly '~standard': {
      readonly version: 1;
      readonly vendor: 'workcell';
      readonly types?: { readonly input: unknown; readonly output: unknown };
      readonly validate: (value: unknown) => { readonly value: unknown };
      readonly jsonSchema: Record<'input' | 'output', () => Record<string, unknown>>;
    };
  };
  execute(input: unknown, options: { readonly abortSignal?: AbortSignal | undefined }): Promise<Output>;
  toModelOutput(options: { readonly output: Output }): {
    type: 'content';
    value: (
      | { type: 'text'; text: string }
      | { type: 'file'; mediaType: string; data: { type: 'data'; data: string } }
    )[];
  };
}

/** What `generateText` and agents take as `tools`. A call that fails throws, which the SDK tells the model. */
export function aiSdkTools(runtime: Runtime, options: AgentToolOptions = {}): Record<string, AiSdkTool> {
  return Object.fromEntries(agentTools(runtime, options).map((tool) => [tool.name, toAiSdk(tool)]));
}

function toAiSdk({ description, parameters, call }: AgentTool): AiSdkTool {
  // A copy for each caller, because the SDK writes into what it gets.
  const schema = () => structuredClone({ ...parameters });
  return {
    description,
    inputSchema: {
      '~standard': {
        version: 1,
        vendor: 'workcell',
        // The runtime checks the arguments itself, and names every problem with its path.
        validate: (value) => ({ value }),
        jsonSchema: { input: schema, output: schema },
      },
    },
    execute: (input, { abortSignal }) => call(input as Record<string, unknown>, { signal: abortSignal }),
    toModelOutput: ({ output: { text, pictures } }) => ({
      type: 'content',
      value: [
        { type: 'text', text },
        ...pictures.map(({ mediaType, data }) => ({
          type: 'file' as const,
          mediaType,
          data: { type: 'data' as const, data },
        })),
      ],
    }),
  };
}

interface At {
  readonly path: string;
  readonly abortSignal?: AbortSignal;
}

interface Command {
  readonly command: string;
  readonly workingDirectory?: string;
  readonly env?: Record<string, string>;
  readonly abortSignal?: AbortSignal;
}

/** A process that a tool of the AI SDK started in the cell. */
export interface AiSdkProcess {
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Rejects with the reason of the signal when the signal ended the process. */
  wait(): Promise<{ exitCode: number }>;
  kill(): Promise<void>;
}

/** Characters of output that can wait for their reader before we hold the process itself back. */
const heldOutput = 1_048_576;

/** What the SDK takes as `experimental_sandbox`: an `Experimental_SandboxSession`. */
export function aiSdkSandbox(runtime: Runtime) {
  const { workspace, backend, isolation, files, processes } = runtime;

  async function readBinaryFile({ path, abortSignal: signal }: At): Promise<Uint8Array | null> {
    return orNull(async () => wholeFile(await files.download(path, { signal }), path));
  }

  async function write(path: string, content: Uint8Array | AsyncIterable<Uint8Array>, signal?: AbortSignal) {
    await files.upload(content, path, { signal });
  }

  async function start({ command, workingDirectory, env, abortSignal }: Command, keepStdin: boolean) {
    abortSignal?.throwIfAborted();
    const { id, pid } = await processes.start(command, { cwd: workingDirectory, env, keepStdin });
    const kill = async () => {
      if ((await processes.get(id)).running) await processes.signal(id, 'SIGKILL');
    };
    const onAbort = () => void kill().catch(() => {});
    abortSignal?.addEventListener('abort', onAbort, { once: true });
    if (abortSignal?.aborted === true) onAbort();
    const settle = () => {
      abortSignal?.removeEventListener('abort', onAbort);
      abortSignal?.throwIfAborted();
    };
    return { id, pid, kill, settle };
  }

  async function run(command: Command): Promise<{ exitCode: number; stdout: string; stderr: string }> {
    const { id, settle } = await start(command, false);
    const { stdout, stderr, ...ending } = await processes.wait(id);
    settle();
    return { exitCode: exitCodeOf(ending), stdout, stderr };
  }

  function spawn(options: Command & { stdin: true }): Promise<AiSdkProcess & { readonly stdin: Writable }>;
  function spawn(options: Command & { stdin?: boolean }): Promise<AiSdkProcess>;
  async function spawn({ stdin = false, ...command }: Command & { stdin?: boolean }): Promise<AiSdkProcess> {
    const { id, pid, kill, settle } = await start(command, stdin);
    const outputs = { stdout: new Outlet(), stderr: new Outlet() };
    const ended = processes
      .wait(id, {
        maxOutputBytes: 256,
        onOutput: ({ stream, text }) => (stream === 'terminal' ? undefined : outputs[stream].write(text)),
      })
      .then((ending) => {
        settle();
        return { exitCode: exitCodeOf(ending) };
      })
      .finally(() => {
        for (const output of Object.values(outputs)) output.end();
      });
    ended.catch(() => {});
    const { stdout, stderr } = outputs;
    const handle = { pid, stdout: stdout.readable, stderr: stderr.readable, wait: () => ended, kill };
    if (!stdin) return handle;
    const send = (chunk: Uint8Array, end: boolean) =>
      processes.write(id, Buffer.from(chunk).toString('base64'), { encoding: 'base64', end });
    const sink = {
      write: (chunk: Uint8Array) => send(chunk, false),
      close: () => send(new Uint8Array(), true),
    };
    return Object.assign(handle, { stdin: new NodeWritable<Uint8Array>(sink) as Writable });
  }

  return {
    description: `A shell and files in a cell (backend ${backend}, isolation ${isolation.tier}). The workspace is ${workspace}; relative paths start there.`,
    readFile: ({ path, abortSignal: signal }: At): Promise<Readable | null> =>
      orNull(async () => NodeReadable.from((await files.download(path, { signal })).content) as Readable),
    readBinaryFile,
    async readTextFile(options: At & { encoding?: string; startLine?: number; endLine?: number }) {
      const bytes = await readBinaryFile(options);
      if (bytes === null) return null;
      const { encoding = 'utf-8', startLine = 1, endLine } = options;
      const text = new TextDecoder(encoding).decode(bytes);
      return startLine === 1 && endLine === undefined ? text : lines(text, startLine, endLine);
    },
    // Not every `lib: dom` declares that you can iterate a stream; you can iterate every stream of Node.
    writeFile: ({ path, content, abortSignal }: At & { content: AsyncIterable<Uint8Array> | Readable }) =>
      write(path, content as AsyncIterable<Uint8Array>, abortSignal),
    writeBinaryFile: ({ path, content, abortSignal }: At & { content: Uint8Array }) =>
      write(path, content, abortSignal),
    writeTextFile: ({ path, content, encoding, abortSignal }: At & { content: string; encoding?: string }) =>
      write(path, Buffer.from(content, (encoding ?? 'utf-8') as BufferEncoding), abortSignal),
    stat: ({ path }: At) =>
      orNull(async () => {
        let entry = await files.stat(path);
        for (let hops = 0; entry.type === 'symlink' && hops < 40; hops++)
          entry = await files.stat(posix.resolve(workspace, posix.dirname(entry.path), entry.target ?? ''));
        const type = kinds[entry.type];
        return { type: type === 'symlink' ? ('other' as const) : type, size: entry.sizeBytes };
      }),
    listDirectory: ({ path }: At) =>
      orNull(async () => {
        const entries = await files.list(path, { limit: 100_000 });
        return entries.map(({ name, type }) => ({ name, type: kinds[type] }));
      }),
    async deleteFile({ path }: At): Promise<boolean> {
      const removed = await orNull(async () => {
        if ((await files.stat(path)).type === 'directory')
          throw new WorkcellError('not-a-file', `${path} is a directory, which deleteFile does not delete.`);
        return files.remove(path);
      });
      return removed !== null;
    },
    spawn,
    run,
  };
}

const kinds = {
  file: 'file',
  directory: 'directory',
  symlink: 'symlink',
  fifo: 'other',
  socket: 'other',
  device: 'other',
} as const;

async function orNull<Value>(work: () => Promise<Value>): Promise<Value | null> {
  try {
    return await work();
  } catch (error) {
    if (WorkcellError.isInstance(error) && error.code === 'not-found') return null;
    throw error;
  }
}

/** Lines with their ends. */
function lines(text: string, startLine: number, endLine = Number.POSITIVE_INFINITY): string {
  let [line, from, to] = [1, 0, 0];
  for (; line <= endLine && to < text.length; line++) {
    if (line <= startLine) from = to;
    to = text.indexOf('\n', to) + 1 || text.length;
  }
  return line > startLine ? text.slice(from, to) : '';
}

/** Text on its way into a stream of bytes; a writer waits while the reader is slow. */
class Outlet {
  readonly readable: Readable;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #resume = () => {};
  #isOpen = true;

  constructor() {
    this.readable = new NodeReadable<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#resume(),
        cancel: () => {
          this.#isOpen = false;
          this.#resume();
        },
      },
      { highWaterMark: heldOutput, size: (chunk) => chunk?.byteLength ?? 0 },
    ) as Readable;
  }

  write(text: string): Promise<void> | undefined {
    if (!this.#isOpen) return undefined;
    this.#controller.enqueue(Buffer.from(text));
    if ((this.#controller.desiredSize ?? 0) > 0) return undefined;
    return new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  end(): void {
    if (this.#isOpen) this.#controller.close();
    this.#isOpen = false;
  }
}
