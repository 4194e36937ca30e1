import type { Command } from 'commander';
import { type ExecutorOptions, executorCommand as plainCommand } from '../../cell/server/executor-command.js';
import { type AlsoOptions, addTools, mountsOf, withAlso } from '../also.js';
import { type CellOptions, gpuGiven, withCellOptions } from '../cell-options.js';
import { exposureOf } from '../server-options.js';
import { type TrustedOptions, takeTrusted, withTrustedOptions } from '../trusted-options.js';

interface Options extends ExecutorOptions, CellOptions, TrustedOptions, AlsoOptions {
  workspace: string;
}

const notes = `
Without --backend it serves this machine as it is, and the runtime of the client
judges and records. With --backend, --attach, --guard, --secret or --also it
serves a runtime, which judges, records and masks.
  $ workcell executor --listen 127.0.0.1:8700 --token-file t --backend sandbox --guard rules`;

/** `workcell executor`: this machine, or a cell, behind the native API. */
export function executorCommand(): Command {
  return withAlso(
    withTrustedOptions(withCellOptions(plainCommand(), { workspace: false, env: false })),
    'native',
  )
    .addHelpText('after', notes)
    .action(serve);
}

async function serve(options: Options): Promise<void> {
  const { backend, attach, guard, secret, also } = options;
  const ofCell = [backend, attach, guard, gpuGiven(options)].some((given) => given !== undefined);
  if (ofCell || secret.length > 0 || also.length > 0) return serveCell(options);
  const { serveThisMachine } = await import('../../cell/server/executor-command.js');
  const { createLog } = await import('../cli-log.js');
  return serveThisMachine(options, createLog('info'));
}

async function serveCell(options: Options): Promise<void> {
  const { readToken } = await import('../../base/http/token.js');
  const { limitsFrom } = await import('../../cell/server/limit-options.js');
  const { serveExecutor } = await import('../../cell/server/serve-executor.js');
  const { keepHeapSmall } = await import('../../cell/server/small-heap.js');
  const { serveRuntime } = await import('../serve-runtime.js');
  keepHeapSmall();
  const token = readToken({ file: options.tokenFile, descriptor: options.tokenFd });
  const trusted = await takeTrusted(options);
  const given = { ...trusted, plugins: options.plugin, place: () => ({ backend: 'cli' }) };
  await serveRuntime(options, given, async (runtime, log) => {
    await addTools(runtime, options.entry);
    const server = await serveExecutor(runtime, {
      ...exposureOf(options, options.listen),
      token,
      id: runtime.id,
      workspace: runtime.workspace,
      isolation: runtime.isolation,
      limits: limitsFrom(options),
      also: await mountsOf(options, runtime, token),
      log,
    });
    // The code that started the runtime ends it, or leaves it running.
    return { server: { address: server.address, close: () => server.close('detach') } };
  });
}
