/** Starts a runtime for a command, with its log and with progress on a terminal. */
import type { CreateRuntimeOptions, Runtime, StatusUpdate } from '../index.js';
import { createLog, type Log } from './log.js';
import type { CellOptions } from './options.js';
import { Progress } from './progress.js';

export async function startRuntime(
  options: CellOptions,
  signal: AbortSignal,
  trusted: Pick<CreateRuntimeOptions, 'policy' | 'guards'> = {},
): Promise<{ runtime: Runtime; log: Log }> {
  const { createRuntime } = await import('../create-runtime.js');
  const { loadConfig } = await import('../config/load.js');
  const { givenBackendOptions } = await import('./backend-options.js');
  const { config: file, backend, workspace, minIsolation, verbose } = options;
  const { values } = await loadConfig({ cwd: process.cwd(), env: process.env, file });
  const log = createLog(verbose ? 'debug' : values.log.level);
  const progress = new Progress();
  const onStatus = (update: StatusUpdate) => {
    // A start that fails is reported as the error it throws.
    log(update.status === 'ERROR' ? 'debug' : update.level, update.message, { status: update.status });
    progress.show(update.message);
  };
  try {
    const runtime = await createRuntime({
      ...(await givenBackendOptions(backend, options as Record<string, unknown>)),
      // The configuration checks what was typed, and says what is accepted.
      backend,
      minIsolation,
      workspace,
      config: file,
      onStatus,
      signal,
      ...trusted,
    } as CreateRuntimeOptions);
    return { runtime, log };
  } finally {
    progress.end();
  }
}
