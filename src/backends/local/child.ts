/** One server process: its start, its log, its end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { ChildSettings } from '../../cell/server/local.js';
import { errorSchema, WorkcellError } from '../../protocol/index.js';

const keptLines = 20;
const longestLine = 2000;
const startMs = 30_000;
const endMs = 10_000;

const readySchema = z.union([z.object({ ready: z.literal(true) }), z.object({ error: errorSchema })]);

export interface ServerProcess {
  readonly pid: number;
  /** Settles when the process is gone, with how it ended. */
  readonly exited: Promise<string>;
  readonly lastLines: readonly string[];
  onLine(listener: (line: string) => void): void;
  /** Says what to serve; settles when it listens. */
  begin(settings: ChildSettings, signal?: AbortSignal): Promise<void>;
  /** Asks it to end, and makes it end when it does not. */
  end(): Promise<void>;
}

/** Starts a server that waits to be told what to serve. `home` is its own directory. */
export function startProcess(home: string, options: { keepAlive: boolean }): ServerProcess {
  const log = options.keepAlive ? openSync(join(home, 'log'), 'a', 0o600) : undefined;
  const child = spawn(process.execPath, entry(), {
    cwd: home,
    detached: options.keepAlive,
    stdio: [options.keepAlive ? 'ignore' : 'pipe', 'ignore', log ?? 'pipe', 'pipe', 'pipe'],
  });
  if (log !== undefined) closeSync(log);
  return follow(child);
}

function follow(child: ChildProcess): ServerProcess {
  const [input, , errors, settings, ready] = child.stdio as [
    Writable | null,
    null,
    Readable | null,
    Writable,
    Readable,
  ];
  const lastLines: string[] = [];
  let onLine = (_line: string): void => {};
  // A broken pipe means that the process is gone, which its exit tells.
  for (const stream of [input, errors, settings, ready]) stream?.on('error', () => {});
  if (errors !== null) {
    eachLine(errors, (line) => {
      lastLines.push(line);
      if (lastLines.length > keptLines) lastLines.shift();
      onLine(line);
    });
  }
  const failed = new Promise<string>((resolve) => child.once('error', (error) => resolve(error.message)));
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) =>
      resolve(signal === null ? `it exited with code ${code}` : `it was killed by ${signal}`),
    );
  });
  const exited = Promise.race([failed, ended]);
  const said = firstLine(ready);
  // An idle server must not keep the process that started it from ending.
  child.unref();
  for (const stream of [input, errors, settings, ready]) (stream as { unref?: () => void } | null)?.unref?.();

  return {
    pid: child.pid ?? -1,
    exited,
    lastLines,
    onLine(listener) {
      onLine = listener;
    },
    async begin(what, signal) {
      settings.end(JSON.stringify(what));
      const answer = await inTime(Promise.race([said, exited.then(() => undefined)]), startMs, signal);
      if (answer === undefined) {
        throw new WorkcellError(
          'backend-unavailable',
          `The server did not start: ${await exited}.${quoteLog(lastLines)}`,
        );
      }
      const line = readySchema.parse(JSON.parse(answer));
      if ('error' in line)
        throw new WorkcellError(line.error.code, line.error.message, { details: line.error.details ?? {} });
    },
    async end() {
      if (input === null) child.kill('SIGTERM');
      else input.end();
      settings.destroy();
      const timer = setTimeout(() => child.kill('SIGKILL'), endMs);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** The last lines of a log, as the end of a message. */
export function quoteLog(lines: readonly string[]): string {
  return lines.length === 0 ? '' : ` Its last lines:\n${lines.join('\n')}`;
}

/** The program of a cell: in one file, which loads several times as fast, or as source under a loader. */
function entry(): string[] {
  const isSource = import.meta.url.endsWith('.ts');
  const main = fileURLToPath(new URL(`../../cli/cell-main.${isSource ? 'ts' : 'cjs'}`, import.meta.url));
  return [...(isSource ? ['--import', import.meta.resolve('tsx')] : []), main, 'local'];
}

function eachLine(stream: Readable, deliver: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const lines = `${rest}${text}`.split('\n');
    rest = (lines.pop() ?? '').slice(-longestLine);
    for (const line of lines) deliver(line.slice(0, longestLine));
  });
}

function firstLine(stream: Readable): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = '';
    stream.setEncoding('utf8');
    stream.on('data', (piece: string) => {
      text += piece;
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
    stream.once('close', () => resolve(undefined));
  });
}

/** Rejects when nothing came in time, or when the signal aborts first. */
async function inTime<T>(
  promise: Promise<T>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort = () => {};
  const interrupted = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new WorkcellError('backend-unavailable', `The server was not ready within ${timeoutMs} ms.`));
    }, timeoutMs);
    onAbort = () => reject(new WorkcellError('cancelled', 'The start was cancelled.'));
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, interrupted]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}
