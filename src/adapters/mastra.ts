/**
 * A runtime as the sandbox of a Mastra workspace. It fits the package's types by shape, so it does not need the
 * package.
 */

import { quote } from '../base/shell-quote.js';
import type { Runtime } from '../index.js';
import { exitCodeOf } from '../runtime/tools/exit-code.js';

interface CommandOptions {
  /** In milliseconds. */
  readonly timeout?: number;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly onStdout?: (data: string) => void;
  readonly onStderr?: (data: string) => void;
  readonly abortSignal?: AbortSignal;
}

/** What `new Workspace` takes as `sandbox`. It lives as long as the runtime, which its owner closes. */
export class WorkcellMastraSandbox {
  readonly id: string;
  readonly name = 'Workcell';
  readonly provider = 'workcell';
  readonly #runtime: Runtime;
  readonly #createdAt = new Date();

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
    this.id = runtime.id;
  }

  get status(): 'running' | 'stopped' {
    return this.#runtime.status === 'STOPPED' ? 'stopped' : 'running';
  }

  isReady(): boolean {
    return this.status === 'running';
  }

  getInfo() {
    const { id, name, provider, status } = this;
    return { id, name, provider, status, createdAt: this.#createdAt };
  }

  getInstructions(): string {
    const { workspace, backend, isolation } = this.#runtime;
    return `Commands run in a cell (backend ${backend}, isolation ${isolation.tier}). The workspace is ${workspace}; relative paths start there.`;
  }

  /** We support no checkpoints here, and Mastra wants a sandbox without them to do nothing. */
  async snapshot(): Promise<void> {}

  /** The command is shell source; arguments reach it as they are. */
  async executeCommand(command: string, args: readonly string[] = [], options: CommandOptions = {}) {
    const { timeout: timeoutMs, cwd, onStdout, onStderr, abortSignal } = options;
    abortSignal?.throwIfAborted();
    const { processes } = this.#runtime;
    const source = [command, ...args.map(quote)].join(' ');
    const { id } = await processes.start(source, { cwd, env: defined(options.env), timeoutMs });
    const kill = () => void processes.signal(id, 'SIGKILL').catch(() => {});
    abortSignal?.addEventListener('abort', kill, { once: true });
    if (abortSignal?.aborted === true) kill();
    try {
      const ended = await processes.wait(id, {
        onOutput: ({ stream, text }) => (stream === 'stderr' ? onStderr?.(text) : onStdout?.(text)),
      });
      const { stdout, stderr, durationMs, endedBy, truncated } = ended;
      return {
        command,
        args: [...args],
        success: ended.exitCode === 0,
        exitCode: exitCodeOf(ended),
        stdout,
        stderr,
        executionTimeMs: durationMs,
        timedOut: endedBy === 'timeout',
        killed: ended.signal !== null,
        stdoutTruncated: truncated,
        stderrTruncated: truncated,
      };
    } finally {
      abortSignal?.removeEventListener('abort', kill);
    }
  }

  async writeFiles(
    files: readonly { path: string; content: string | Uint8Array; mode?: number }[],
  ): Promise<void> {
    for (const { path, content, mode } of files) await this.#runtime.write(path, content, { mode });
  }
}

function defined(env: CommandOptions['env'] = {}): Record<string, string> {
  const set = Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return Object.fromEntries(set);
}
