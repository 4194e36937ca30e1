/** Starts an executor on this machine together with its server: what `workcell executor` and backend `local` run. */
import { statSync, unlinkSync } from 'node:fs';
import { createExecutor } from '../executor/create-executor.js';
import { spareShell } from '../executor/shell/spare.js';
import { createHostLauncher, hostIsolation } from '../launchers/host-launcher.js';
import type { Launcher } from '../launchers/launcher.js';
import type { LoadedPlugin } from '../plugins/load-plugins.js';
import { withPlugins } from '../plugins/plugin-host.js';
import type { ListenAddress, ServeOptions } from './executor-server-options.js';
import { type ExecutorServer, serveExecutor } from './serve-executor.js';

export interface StartOptions extends Omit<ServeOptions, 'isolation'> {
  /** What every command starts with. */
  readonly environment: Readonly<Record<string, string>>;
  /** Plugins, whose actions the executor has besides its own. */
  readonly plugins?: readonly LoadedPlugin[] | undefined;
  /** The user that commands run as, when that is not the server's own. */
  readonly runAs?: { readonly uid: number; readonly gid: number } | undefined;
}

export async function startServer(options: StartOptions): Promise<ExecutorServer> {
  const { environment, runAs, plugins = [], ...rest } = options;
  let isFirst = true;
  const create = (launcher: Launcher) => {
    const spare = isFirst ? spareShell(launcher) : undefined;
    isFirst = false;
    return withPlugins(createExecutor(launcher, { spare }), launcher, plugins);
  };
  const place = { workspace: options.workspace, environment };
  if (runAs === undefined) {
    return serveExecutor(() => create(createHostLauncher(place)), {
      ...rest,
      isolation: hostIsolation(),
    });
  }
  const { createUidLauncher, resumeRoot, takeUser, uidIsolation } = await import(
    '../launchers/uid-launcher.js'
  );
  await (await import('../executor/load-parts.js')).loadParts();
  let taken = false;
  const server = await serveExecutor(
    () => {
      // The server has bound the socket as its starting user; everything that follows belongs to the other user.
      if (!taken) takeUser(runAs);
      taken = true;
      return create(createUidLauncher({ ...place, ...runAs }));
    },
    { ...rest, isolation: uidIsolation(runAs) },
  );
  const removeSocket = socketRemoval(options.listen);
  let closing: Promise<void> | undefined;
  return {
    ...server,
    close(commands) {
      closing ??= server.close(commands).then(() => {
        resumeRoot();
        removeSocket();
      });
      return closing;
    },
  };
}

/** The other user may not remove a socket from the directory of the user that bound it. */
function socketRemoval(listen: ListenAddress): () => void {
  if (!('path' in listen)) return () => {};
  const { path } = listen;
  const inode = () => statSync(path, { throwIfNoEntry: false })?.ino;
  const ours = inode();
  return () => {
    if (ours !== undefined && inode() === ours) unlinkSync(path);
  };
}
