/** Starts a container and waits until its executor says that it listens, or that it cannot. */
import type { Duplex } from 'node:stream';
import { greetingSchema, type KernelReport } from '../../cell/server/cell.js';
import { WorkcellError } from '../../protocol/index.js';
import { demultiplex } from '../engines/demultiplex.js';
import type { Engine } from '../engines/docker.js';
import type { Container } from '../engines/docker-client.js';
import { watchOoms } from './ooms.js';
import type { DockerOptions } from './options.js';

const startMs = 60_000;
const keptLines = 20;
const longestLine = 2000;

export interface Greeting {
  readonly kernel: KernelReport;
  /** Settles when the container has ended; rejects when the engine went away. */
  readonly ended: Promise<{ exitCode: number; oom: boolean }>;
}

export async function awaitGreeting(
  engine: Engine,
  container: Container,
  options: Pick<DockerOptions, 'keepAlive' | 'onLog'>,
  signal: AbortSignal | undefined,
): Promise<Greeting> {
  const lines: string[] = [];
  const stream = await container.attach({ stdin: !options.keepAlive, stdout: true, stderr: true });
  const log = eachLine((line) => {
    lines.push(line);
    if (lines.length > keptLines) lines.shift();
    options.onLog?.(line);
  });
  const streams = demultiplex(stream, log);
  (stream as { unref?: () => void }).unref?.();
  const ended = Promise.race([awaitEnd(engine, container), awaitSilence(engine, stream)]);
  ended.catch(() => {});
  const said = new Promise<string>((resolve) => {
    streams.setEncoding('utf8');
    const take = eachLine(resolve);
    streams.on('data', take);
    streams.on('error', () => {});
  });
  await container.start();
  const line = await inTime(Promise.race([said, ended]), signal, () => lines);
  if (typeof line !== 'string') throw notStarted(`ended with code ${line.exitCode}`, lines);
  const greeting = greetingSchema.safeParse(parse(line));
  if (!greeting.success) throw notStarted(`said ${JSON.stringify(line.slice(0, 200))}`, lines);
  if ('error' in greeting.data) {
    const { code, message, details } = greeting.data.error;
    throw new WorkcellError(code, message, { details: details ?? {} });
  }
  return { kernel: greeting.data.kernel, ended };
}

async function awaitEnd(engine: Engine, { id }: Container): Promise<{ exitCode: number; oom: boolean }> {
  const ooms = watchOoms(engine);
  const { StatusCode: exitCode } = await engine.waiter.getContainer(id).wait({ condition: 'next-exit' });
  return { exitCode, oom: ooms.has(id) };
}

/**
 * Rejects when the engine went away, which a request that waits for its answer does not notice. When only the container
 * has ended, it is left to that request to say so.
 */
async function awaitSilence(engine: Engine, stream: Duplex): Promise<never> {
  await new Promise((resolve) => stream.once('close', resolve));
  await engine.docker.ping();
  return new Promise(() => {});
}

function notStarted(what: string, lines: readonly string[]): WorkcellError {
  const log = lines.length === 0 ? '' : ` Its last lines:\n${lines.join('\n')}`;
  return new WorkcellError(
    'backend-unavailable',
    `The executor in the container does not answer: it ${what}.${log}`,
    {
      details: { log: [...lines] },
    },
  );
}

async function inTime<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
  lines: () => string[],
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort = () => {};
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(notStarted(`was silent for ${startMs / 1000} s`, lines())), startMs);
    onAbort = () => reject(new WorkcellError('cancelled', 'The start of the cell was cancelled.'));
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

function eachLine(deliver: (line: string) => void): (text: string) => void {
  let rest = '';
  return (text) => {
    const lines = `${rest}${text}`.split('\n');
    rest = (lines.pop() ?? '').slice(-longestLine);
    for (const line of lines) deliver(line.slice(0, longestLine));
  };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
