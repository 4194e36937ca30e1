/** Runs the real command line as a process of its own. */
import { type ChildProcessByStdio, spawn as spawnProcess } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { spawn as spawnPty } from '@lydell/node-pty';
import { builtFile } from '../built-file.js';

const argv = [builtFile('cli/main.cjs')];

export interface CliOptions {
  /** Text for its standard input; without it, that is `/dev/null`. */
  input?: string;
  uid?: number;
  cwd?: string;
  env?: Record<string, string>;
}

export interface CliResult {
  stdout: string;
  stderr: string;
  exitCode: number | null;
}

/** Starts it with pipes; `printed` waits until standard output has the text. */
export function start(args: readonly string[], options: CliOptions = {}) {
  const child = spawnProcess(process.execPath, [...argv, ...args], {
    cwd: options.cwd ?? tmpdir(),
    env: environment(options),
    ...(options.uid !== undefined && { uid: options.uid, gid: options.uid }),
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  }) as ChildProcessByStdio<Writable | null, Readable, Readable>;
  // A command may end before it has read all of it.
  child.stdin?.on('error', () => {}).end(options.input);
  const stdout = new Watched();
  const stderr = new Watched();
  child.stdout.setEncoding('utf8').on('data', (text: string) => stdout.append(text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.append(text));
  const ended = new Promise<CliResult>((resolve) => {
    child.once('close', (exitCode) => {
      stdout.end(stderr.text);
      resolve({ stdout: stdout.text, stderr: stderr.text, exitCode });
    });
  });
  return { child, ended, text: () => stdout.text, printed: (text: string) => stdout.has(text) };
}

export function workcell(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return start(args, options).ended;
}

/** Starts it on a terminal of its own. */
export function startOnTerminal(args: readonly string[], options: CliOptions = {}) {
  const pty = spawnPty(process.execPath, [...argv, ...args], {
    cwd: options.cwd ?? tmpdir(),
    env: environment(options),
    cols: 100,
    rows: 30,
    name: 'xterm-256color',
  });
  const screen = new Watched();
  pty.onData((text) => screen.append(text));
  const ended = new Promise<{ output: string; exitCode: number }>((resolve) => {
    pty.onExit(({ exitCode }) => {
      screen.end('');
      resolve({ output: screen.text, exitCode });
    });
  });
  return { pty, ended, printed: (text: string) => screen.has(text) };
}

export async function withDirectory<T>(use: (directory: string) => Promise<T>): Promise<T> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'workcell-cli-test-')));
  try {
    return await use(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function environment({ env = {} }: CliOptions): Record<string, string> {
  const { PATH = '', HOME = '', XDG_STATE_HOME = '' } = process.env;
  return { PATH, HOME, XDG_STATE_HOME, LANG: 'C.UTF-8', ...env };
}

/** Text that grows until its writer ends, and those who wait for a part of it. */
class Watched {
  text = '';
  #ended: string | undefined;
  readonly #waiting = new Set<() => void>();

  append(more: string): void {
    this.text += more;
    for (const check of this.#waiting) check();
  }

  end(errors: string): void {
    this.#ended = errors;
    for (const check of this.#waiting) check();
  }

  has(part: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = () => {
        const found = this.text.includes(part);
        if (!found && this.#ended === undefined) return;
        this.#waiting.delete(check);
        if (found) resolve();
        else
          reject(new Error(`It ended without printing ${JSON.stringify(part)}:\n${this.text}${this.#ended}`));
      };
      this.#waiting.add(check);
      check();
    });
  }
}
