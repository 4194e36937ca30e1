/** A separate process that interprets Python or JavaScript and keeps the definitions of code. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { programText } from '../../../base/program-text.js';

/** Both read JSON lines from descriptor 3 and answer on 4, so that the output of code stays separate. */
const programs = {
  python: () => ['python3', '-u', '-c', programText('interpret.py', import.meta.url)],
  javascript: () => [process.execPath, '-e', programText('interpret.cjs', import.meta.url)],
} satisfies Record<string, () => [string, ...string[]]>;

const longestOutput = 1024 * 1024;

export interface CodeResult {
  readonly output: string;
  /** The value of the last expression, as the language shows it. */
  readonly value: string | null;
  /** The traceback, when the code failed. */
  readonly error: string | null;
}

export class Interpreter {
  readonly #language: keyof typeof programs;
  readonly #cwd: string;
  #child: ChildProcess | undefined;
  #answers: AsyncIterator<string> | undefined;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(language: keyof typeof programs, cwd: string) {
    this.#language = language;
    this.#cwd = cwd;
  }

  run(code: string, signal: AbortSignal): Promise<CodeResult> {
    const turn = this.#queue.then(() => this.#run(code, signal));
    this.#queue = turn.catch(() => {});
    return turn;
  }

  async #run(code: string, signal: AbortSignal): Promise<CodeResult> {
    const child = this.#child ?? this.#start();
    let output = '';
    const take = (chunk: Buffer) => {
      if (output.length < longestOutput) output += chunk.toString('utf8');
    };
    const [, stdout, stderr, requests] = child.stdio as [unknown, Readable, Readable, Writable, Readable];
    const stop = () => child.kill('SIGKILL');
    stdout.on('data', take);
    stderr.on('data', take);
    signal.addEventListener('abort', stop, { once: true });
    try {
      requests.write(`${JSON.stringify({ code })}\n`);
      const answer = await this.#answers?.next();
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      if (answer === undefined || answer.done) {
        this.#child = undefined;
        return { output, value: null, error: 'The interpreter ended; what it had defined is gone.' };
      }
      const { value, error } = JSON.parse(answer.value) as { value: string | null; error: string | null };
      return { output, value, error };
    } finally {
      signal.removeEventListener('abort', stop);
      stdout.off('data', take);
      stderr.off('data', take);
      if (signal.aborted) this.#child = undefined;
    }
  }

  #start(): ChildProcess {
    const [program, ...args] = programs[this.#language]() as [string, ...string[]];
    const child = spawn(program, args, { cwd: this.#cwd, stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'] });
    for (const stream of child.stdio) stream?.on('error', () => {});
    child.on('error', () => {});
    const lines = createInterface({ input: child.stdio[4] as Readable });
    this.#answers = lines[Symbol.asyncIterator]();
    this.#child = child;
    return child;
  }
}
