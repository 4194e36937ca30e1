/** A program that serves executors, as a process of this machine: its start, its log, its end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { inheritedEnvironment } from '../base/hidden-variables.js';
import { fromInput } from '../cell/server/boot-protocol.js';
import { awaitHandshake, findHandshake, LogTail, type Ready } from './await-handshake.js';

const startMs = 30_000;
const endMs = 10_000;

export interface ServerProcess {
  readonly pid: number;
  /** Settles when the process has ended, with how it ended. */
  readonly exited: Promise<string>;
  readonly log: LogTail;
  /** Sends the settings. Settles when it listens, with its own description. */
  begin(settings: object, signal?: AbortSignal): Promise<Ready>;
  /** Asks it to end, and makes it end when it does not. */
  end(): Promise<void>;
}

export interface ProgramOptions {
  /** Its name in messages, as the subject of a sentence. */
  readonly who: string;
  /** All words that lead to it, but the place of the settings. Its standard streams must lead to it, too. */
  readonly argv: readonly string[];
  readonly directory: string;
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Where its log goes if it outlives this process. Without: it ends with this process. */
  readonly logFile?: string | undefined;
}

/** Starts a program that waits for its settings. */
export function startProgram({ who, argv, directory, env, logFile }: ProgramOptions): ServerProcess {
  const log = logFile === undefined ? undefined : openSync(logFile, 'a', 0o600);
  const [program = '', ...words] = argv;
  const child = spawn(program, [...words, fromInput], {
    cwd: directory,
    detached: log !== undefined,
    env: env ?? inheritedEnvironment(),
    stdio: ['pipe', 'pipe', log ?? 'pipe'],
  });
  if (log !== undefined) closeSync(log);
  return follow(child, who, { lasts: log !== undefined });
}

function follow(child: ChildProcess, who: string, { lasts }: { lasts: boolean }): ServerProcess {
  const [input, output, errors] = child.stdio as [Writable, Readable, Readable | null, null, null];
  const log = new LogTail();
  // A broken pipe means that the process has ended, which its exit reports.
  for (const stream of [input, output, errors]) stream?.on('error', () => {});
  errors?.setEncoding('utf8').on('data', log.take);
  const failed = new Promise<string>((resolve) => child.once('error', (error) => resolve(error.message)));
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) =>
      resolve(signal === null ? `it exited with code ${code}` : `it was killed by ${signal}`),
    );
  });
  const exited = Promise.race([failed, ended]);
  const said = new Promise<string | undefined>((resolve) => {
    output.setEncoding('utf8').on('data', findHandshake(resolve, log));
    output.once('close', () => resolve(undefined));
  });
  // An idle server must not keep the process that started it from ending.
  child.unref();
  for (const stream of [input, output, errors]) (stream as { unref?: () => void } | null)?.unref?.();

  return {
    pid: child.pid ?? -1,
    exited,
    log,
    async begin(what, signal) {
      input.write(`${JSON.stringify(what)}\n`);
      // A server that ends with this process ends with its input.
      if (lasts) input.end();
      return awaitHandshake({ who, said, ended: exited, limitMs: startMs, signal, log });
    },
    async end() {
      if (lasts) child.kill('SIGTERM');
      else input.end();
      const timer = setTimeout(() => child.kill('SIGKILL'), endMs);
      await exited;
      clearTimeout(timer);
    },
  };
}
