import { killTree } from '../launchers/kill-tree.js';
import type { Launcher } from '../launchers/launcher.js';
import type { Executor } from '../protocol/index.js';
import type { PluginCell } from './plugin.js';

/** The view of a cell that plugins get. */
export function createPluginCell(executor: Executor, launcher: Launcher): PluginCell {
  const { workspace } = launcher.files;
  return {
    execute: executor.execute,
    upload: executor.upload,
    download: executor.download,
    openTerminal: executor.openTerminal,
    workspace,
    exchange: launcher.exchange,
    async spawn(argv, { cwd = workspace, env = {} } = {}) {
      const { variables } = await executor.execute<'get_env'>({ action: 'get_env' });
      return launcher.spawn(argv, { cwd, env: { ...variables, ...env } });
    },
    connect: (port) => launcher.connect(port),
    dial: (host, port) => launcher.dial(host, port),
    kill: (pid) => killTree(launcher, [pid], 'SIGKILL'),
    signal: (pids, signal) => launcher.signal(pids, signal),
  };
}
