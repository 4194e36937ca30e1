/** Serves a runtime until it is asked to end. */
import type { ListenAddress } from '../base/http/http-options.js';
import type { Runtime } from '../index.js';
import type { CellOptions } from './cell-options.js';
import type { Log } from './cli-log.js';

interface Server {
  readonly address: ListenAddress;
  close(): Promise<void>;
}

interface Serving {
  readonly server: Server;
  /** What clients need to know besides the address, such as `token: …`. */
  readonly secret?: string | undefined;
  /** Follows the address. */
  readonly path?: string | undefined;
  /** What is still to come; the server ends when it fails. */
  readonly ready?: Promise<unknown> | undefined;
}

/** `given`: what the command says about the runtime. `serve` begins to serve it. */
export async function serveRuntime(
  options: CellOptions,
  given: Parameters<typeof import('./start-runtime.js')['startRuntime']>[2],
  serve: (runtime: Runtime, log: Log) => Promise<Serving>,
): Promise<void> {
  const { showAddress } = await import('../base/http/listen.js');
  const { watchInterrupts } = await import('./interrupts.js');
  const { startRuntime } = await import('./start-runtime.js');
  using interrupts = watchInterrupts();
  const { runtime, log, end } = await startRuntime(options, interrupts.signal, {
    offersTools: true,
    ...given,
  });
  try {
    const { server, secret, path = '', ready } = await serve(runtime, log);
    try {
      if (secret !== undefined) process.stdout.write(`${secret}\n`);
      process.stdout.write(`listening on ${showAddress(server.address)}${path}\n`);
      const ended = aborted(interrupts.signal);
      await Promise.race([ended, ready]);
      await ended;
    } finally {
      await server.close();
    }
  } finally {
    await end();
  }
  const exitCode = interrupts.exitCode();
  process.exitCode = exitCode === 143 ? 0 : exitCode;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
