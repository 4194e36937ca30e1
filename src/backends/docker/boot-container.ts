/** Starts a container and waits until its executor reports that it listens, or that it cannot. */
import type { Duplex } from 'node:stream';
import type { KernelReport } from '../../cell/server/boot-protocol.js';
import { WorkcellError } from '../../protocol/index.js';
import { awaitHandshake, findHandshake, LogTail } from '../await-handshake.js';
import { demultiplex } from '../engines/demultiplex.js';
import type { Container } from '../engines/docker-client.js';
import type { Engine } from '../engines/docker-engine.js';
import type { DockerOptions } from './docker-options.js';
import { watchOoms } from './ooms.js';

const startMs = 60_000;

export interface BootedContainer {
  readonly kernel: KernelReport;
  /** Settles when the container has ended; rejects when the engine went away. */
  readonly ended: Promise<{ exitCode: number; oom: boolean }>;
}

export async function bootContainer(
  engine: Engine,
  container: Container,
  options: Pick<DockerOptions, 'keepAlive' | 'onLog'>,
  signal: AbortSignal | undefined,
): Promise<BootedContainer> {
  const stream = await container.attach({ stdin: !options.keepAlive, stdout: true, stderr: true });
  const log = new LogTail();
  if (options.onLog !== undefined) log.onLine = options.onLog;
  const streams = demultiplex(stream, log.take);
  (stream as { unref?: () => void }).unref?.();
  const ended = Promise.race([awaitEnd(engine, container), awaitSilence(engine, stream)]);
  ended.catch(() => {});
  const said = new Promise<string | undefined>((resolve) => {
    streams.setEncoding('utf8').on('data', findHandshake(resolve, log));
    streams.on('error', () => {});
    for (const event of ['end', 'close']) streams.once(event, () => resolve(undefined));
  });
  await container.start();
  const { kernel } = await awaitHandshake({
    who: 'The executor in the container',
    said,
    ended: ended.then(({ exitCode }) => `it ended with code ${exitCode}`),
    limitMs: startMs,
    signal,
    log,
  });
  if (kernel !== undefined) return { kernel, ended };
  throw new WorkcellError(
    'backend-unavailable',
    'The executor in the container does not say what the kernel enforces on it.',
  );
}

async function awaitEnd(engine: Engine, { id }: Container): Promise<{ exitCode: number; oom: boolean }> {
  const ooms = watchOoms(engine);
  const { StatusCode: exitCode } = await engine.waiter.getContainer(id).wait({ condition: 'next-exit' });
  return { exitCode, oom: ooms.has(id) };
}

/**
 * Rejects when the engine has gone away, which a waiting request does not notice. If only the container has ended,
 * that request reports it.
 */
async function awaitSilence(engine: Engine, stream: Duplex): Promise<never> {
  await new Promise((resolve) => stream.once('close', resolve));
  await engine.docker.ping();
  return new Promise(() => {});
}
