/** Serves a runtime until somebody asks it to end. */
import type { Runtime } from '../index.js';
import type { CellOptions } from './cell-options.js';
import type { Log } from './cli-log.js';
import type { Serving } from './serve-until-asked.js';

/** `given`: the command's own options for the runtime. `serve` begins to serve it. */
export async function serveRuntime(
  options: CellOptions,
  given: Parameters<typeof import('./start-runtime.js')['startRuntime']>[2],
  serve: (runtime: Runtime, log: Log) => Promise<Serving>,
): Promise<void> {
  const { watchInterrupts } = await import('./interrupts.js');
  const { serveUntilAsked } = await import('./serve-until-asked.js');
  const { startRuntime } = await import('./start-runtime.js');
  using interrupts = watchInterrupts();
  const { runtime, log, end } = await startRuntime(options, interrupts.signal, {
    offersTools: true,
    ...given,
  });
  try {
    await serveUntilAsked(await serve(runtime, log), interrupts);
  } finally {
    await end();
  }
}
