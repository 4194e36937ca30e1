/** A bash that keeps its state from one command to the next. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/**
 * Commands arrive on 4, each ended by a NUL, so that none of them is ever a part of other source; 3 reports how one
 * ended.
 */
const loop = `while IFS= read -r -d '' workcell_command <&4; do
  eval "$workcell_command" 3>&- 4<&-
  printf '%d\\0%s\\0' "$?" "$PWD" >&3
done`;

const longestOutput = 1024 * 1024;

export interface ShellResult {
  readonly output: string;
  /** Null when the shell itself ended. */
  readonly exitCode: number | null;
  readonly cwd: string;
  /** True when it left out the middle of the output. */
  readonly truncated: boolean;
}

export class PersistentShell {
  readonly #cwd: string;
  #child: ChildProcess | undefined;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  /** One after the other: a shell has one terminal. */
  run(command: string, signal: AbortSignal): Promise<ShellResult> {
    const turn = this.#queue.then(() => this.#run(command, signal));
    this.#queue = turn.catch(() => {});
    return turn;
  }

  /** Ends the shell and everything that runs in it; the next command gets a new one. */
  close(): void {
    const pid = this.#child?.pid;
    this.#child = undefined;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It went by itself.
    }
  }

  async #run(command: string, signal: AbortSignal): Promise<ShellResult> {
    if (command.includes('\0')) throw new Error('A command cannot contain a NUL character.');
    const child = this.#child ?? this.#start();
    this.#child = child;
    const [, stdout, stderr, ends, commands] = child.stdio as [
      unknown,
      Readable,
      Readable,
      Readable,
      Writable,
    ];
    const output = new Excerpt();
    const take = (chunk: Buffer) => output.add(chunk);
    const stop = () => this.close();
    stdout.on('data', take);
    stderr.on('data', take);
    signal.addEventListener('abort', stop, { once: true });
    try {
      commands.write(`${command}\0`);
      const ended = await untilEnd(child, ends);
      // Output from before the end is in the pipes already.
      await new Promise((resolve) => setImmediate(resolve));
      if (ended === undefined) this.close();
      signal.throwIfAborted();
      const { text, truncated } = output;
      return { output: text, exitCode: ended?.exitCode ?? null, cwd: ended?.cwd ?? this.#cwd, truncated };
    } finally {
      signal.removeEventListener('abort', stop);
      stdout.off('data', take);
      stderr.off('data', take);
    }
  }

  #start(): ChildProcess {
    const child = spawn('bash', ['--norc', '--noprofile', '-c', loop], {
      cwd: this.#cwd,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    });
    for (const stream of child.stdio) stream?.on('error', () => {});
    return child;
  }
}

function untilEnd(
  child: ChildProcess,
  ends: Readable,
): Promise<{ exitCode: number; cwd: string } | undefined> {
  return new Promise((resolve, reject) => {
    let report = '';
    const settle = (result: { exitCode: number; cwd: string } | undefined) => {
      ends.off('data', read);
      child.off('close', gone);
      child.off('error', failed);
      resolve(result);
    };
    const read = (chunk: Buffer) => {
      report += chunk.toString('utf8');
      const [code, cwd, rest] = report.split('\0');
      if (rest !== undefined) settle({ exitCode: Number(code), cwd: cwd ?? '' });
    };
    const gone = () => settle(undefined);
    const failed = (error: Error) => reject(error);
    ends.on('data', read);
    child.once('close', gone);
    child.once('error', failed);
  });
}

/** The beginning and the end of something long. */
class Excerpt {
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer = Buffer.alloc(0);
  #totalBytes = 0;

  add(chunk: Buffer): void {
    this.#totalBytes += chunk.length;
    const room = longestOutput / 2 - this.#headBytes;
    if (room > 0) {
      const piece = chunk.subarray(0, room);
      this.#head.push(piece);
      this.#headBytes += piece.length;
    }
    const rest = chunk.subarray(Math.max(0, room));
    if (rest.length > 0) this.#tail = Buffer.concat([this.#tail, rest]).subarray(-longestOutput / 2);
  }

  get truncated(): boolean {
    return this.#headBytes + this.#tail.length < this.#totalBytes;
  }

  get text(): string {
    const left = this.#totalBytes - this.#headBytes - this.#tail.length;
    const gap = left > 0 ? [Buffer.from(`\n[… ${left} bytes left out …]\n`)] : [];
    return Buffer.concat([...this.#head, ...gap, this.#tail]).toString('utf8');
  }
}
