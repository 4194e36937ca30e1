/**
 * Cells as the sandboxes of ComputeSDK, version 4. It fits the package's types by shape, so it does not need the
 * package.
 */
import { isUtf8 } from 'node:buffer';
import { type CreateRuntimeOptions, createRuntime, type Runtime, WorkcellError } from '../index.js';
import { exitCodeOf } from '../runtime/tools/exit-code.js';
import { wholeFile } from '../runtime/tools/whole-file.js';

/** What a program asks of `compute.sandbox.create`. */
export interface ComputeSdkAsked {
  /** The sandbox ends after so many milliseconds. Default: when it is destroyed. */
  readonly timeout?: number | undefined;
  /** Variables for every command. */
  readonly envs?: Readonly<Record<string, string>> | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Cancels the start. */
  readonly signal?: AbortSignal | undefined;
  readonly [option: string]: unknown;
}

/** How to start the cell of a sandbox: always the same, or by what the program asks for. */
export type ComputeSdkStart = CreateRuntimeOptions | ((asked: ComputeSdkAsked) => CreateRuntimeOptions);

/** Not every backend takes variables; one that does not refuses them. */
interface Environment {
  readonly env?: Readonly<Record<string, string>>;
}

interface CommandOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** In milliseconds. */
  readonly timeout?: number;
  readonly background?: boolean;
  readonly onStdout?: (data: string) => void;
  readonly onStderr?: (data: string) => void;
}

/** What `compute({ provider })` takes. Its sandboxes live in this program, and end with it at the latest. */
export function computeSdkProvider(start: ComputeSdkStart = {}) {
  const sandboxes = new Map<string, ComputeSdkSandbox>();

  async function destroy(id: string): Promise<void> {
    const sandbox = sandboxes.get(id);
    if (sandbox === undefined)
      throw new WorkcellError('cell-not-found', `There is no sandbox "${id}".`, { details: { id } });
    await sandbox.destroy();
  }

  return {
    name: 'workcell',
    sandbox: {
      async create(asked: ComputeSdkAsked = {}): Promise<ComputeSdkSandbox> {
        if (typeof start !== 'function') refuseOthers(asked);
        const given = typeof start === 'function' ? start(asked) : start;
        const { envs, signal = given.signal } = asked;
        const env = envs === undefined ? undefined : { ...(given as Environment).env, ...envs };
        const options = { ...given, signal, ...(env !== undefined && { env }) };
        const runtime = await createRuntime(options as CreateRuntimeOptions);
        const sandbox = new ComputeSdkSandbox(runtime, asked, () => sandboxes.delete(runtime.id));
        sandboxes.set(runtime.id, sandbox);
        return sandbox;
      },
      getById: async (id: string): Promise<ComputeSdkSandbox | null> => sandboxes.get(id) ?? null,
      list: async (): Promise<ComputeSdkSandbox[]> => [...sandboxes.values()],
      destroy,
    },
  };
}

const honoured = ['timeout', 'envs', 'metadata', 'signal', 'name', 'namespace'];

/** An image or a limit that was asked for and is not there would be a surprise, so refuse it by name. */
function refuseOthers(asked: ComputeSdkAsked): void {
  const other = Object.keys(asked).find((key) => asked[key] !== undefined && !honoured.includes(key));
  if (other === undefined) return;
  throw new WorkcellError(
    'capability-unsupported',
    `This provider starts every sandbox alike, and "${other}" was asked for. Leave it out, or give computeSdkProvider a function that chooses the options of the cell.`,
    { details: { capability: other } },
  );
}

const longestTimerMs = 2 ** 31 - 1;

/** A cell in the form of ComputeSDK. */
export class ComputeSdkSandbox {
  readonly sandboxId: string;
  readonly provider = 'workcell';
  readonly #runtime: Runtime;
  readonly #asked: ComputeSdkAsked;
  readonly #createdAt = new Date();
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #onEnd: () => void;
  /** Addresses here, by ports of the cell. */
  readonly #addresses = new Map<number, Promise<{ port: number }>>();

  constructor(runtime: Runtime, asked: ComputeSdkAsked, onEnd: () => void) {
    this.#runtime = runtime;
    this.#asked = asked;
    this.#onEnd = onEnd;
    this.sandboxId = runtime.id;
    const { timeout } = asked;
    if (timeout !== undefined && timeout <= longestTimerMs)
      this.#timer = setTimeout(() => void this.destroy().catch(() => {}), timeout).unref();
  }

  /** The runtime of the cell, for all that ComputeSDK has no words for. */
  getInstance(): Runtime {
    return this.#runtime;
  }

  /** Each command is a process of its own, which starts in the workspace. */
  async runCommand(command: string, options: CommandOptions = {}) {
    const { cwd, env, timeout: timeoutMs, background, onStdout, onStderr } = options;
    const { processes } = this.#runtime;
    const { id } = await processes.start(command, { cwd, env, timeoutMs });
    if (background) return { stdout: '', stderr: '', exitCode: 0, durationMs: 0 };
    const ended = await processes.wait(id, {
      onOutput: ({ stream, text }) => (stream === 'stderr' ? onStderr?.(text) : onStdout?.(text)),
    });
    const { stdout, stderr, durationMs, endedBy } = ended;
    return { stdout, stderr, exitCode: endedBy === 'timeout' ? 124 : exitCodeOf(ended), durationMs };
  }

  async getInfo() {
    const { backend, isolation, workspace, status } = this.#runtime;
    const { timeout = 0, metadata } = this.#asked;
    return {
      id: this.sandboxId,
      provider: this.provider,
      status: statusOf(status),
      createdAt: this.#createdAt,
      timeout,
      metadata: { ...metadata, backend, isolation: isolation.tier, workspace },
    };
  }

  /** An address on the loopback of this machine. */
  async getUrl({ port, protocol = 'http' }: { port: number; protocol?: string }): Promise<string> {
    let address = this.#addresses.get(port);
    if (address === undefined) {
      address = this.#runtime.ports.forward(port);
      this.#addresses.set(port, address);
      address.catch(() => this.#addresses.delete(port));
    }
    return `${protocol}://127.0.0.1:${(await address).port}`;
  }

  async destroy(): Promise<void> {
    clearTimeout(this.#timer);
    // One whose end fails stays in the list, for its cell may be there still.
    await this.#runtime.close();
    this.#onEnd();
  }

  readonly filesystem = {
    readFile: async (path: string): Promise<string> => {
      const bytes = await wholeFile(await this.#runtime.files.download(path), path);
      if (isUtf8(bytes)) return bytes.toString();
      throw new WorkcellError(
        'invalid-action',
        `${path} is no text, and readFile of ComputeSDK gives text. Download it with getInstance().files.download.`,
      );
    },
    writeFile: async (path: string, content: string): Promise<void> => {
      await this.#runtime.write(path, content);
    },
    readdir: async (path: string) => {
      const entries = await this.#runtime.files.list(path, { limit: 100_000 });
      return entries.map(({ name, type, sizeBytes, modifiedAt }) => ({
        name,
        type: type === 'directory' ? ('directory' as const) : ('file' as const),
        size: sizeBytes,
        modified: new Date(modifiedAt),
      }));
    },
    mkdir: async (path: string): Promise<void> => {
      await this.#runtime.files.makeDir(path);
    },
    exists: (path: string): Promise<boolean> => this.#runtime.files.exists(path),
    remove: async (path: string): Promise<void> => {
      await this.#runtime.files.remove(path, { recursive: true });
    },
  };
}

function statusOf(status: Runtime['status']): 'running' | 'stopped' | 'error' {
  if (status === 'ERROR' || status === 'ERROR_RUNTIME_DISCONNECTED') return 'error';
  return status === 'STOPPED' || status === 'DETACHED' ? 'stopped' : 'running';
}
