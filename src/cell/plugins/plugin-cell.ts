import type { Executor } from '../../protocol/index.js';
import { killTree } from '../launchers/kill-tree.js';
import type { Launcher } from '../launchers/launcher.js';
import type { KeptOutput, PluginCell } from './plugin.js';

/** An executor that sits beside its launcher. */
export interface CellExecutor extends Executor {
  openOutput(): KeptOutput;
}

/** The view of a cell that plugins get. */
export function createPluginCell(executor: CellExecutor, launcher: Launcher): PluginCell {
  const { workspace } = launcher.files;
  return {
    execute: executor.execute,
    upload: executor.upload,
    download: executor.download,
    openTerminal: executor.openTerminal,
    openOutput: executor.openOutput,
    workspace,
    exchange: launcher.exchange,
    sockets: launcher.sockets,
    node: launcher.node,
    async spawn(argv, { cwd = workspace, env = {} } = {}) {
      const { variables } = await executor.execute<'get_env'>({ action: 'get_env' });
      return launcher.spawn(argv, { cwd, env: { ...variables, ...env } });
    },
    connect: (place) => launcher.connect(place),
    dial: (host, port) => launcher.dial(host, port),
    signal: (pids, signal) => launcher.signal(pids, signal),
    kill: (pid) => killTree(launcher, [pid], 'SIGKILL'),
    oomKills: () => launcher.oomKills?.() ?? 0,
  };
}
