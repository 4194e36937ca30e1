/** Runs the executor as a separate server process on this machine, reached over a Unix socket. No isolation. */
import { mkdirSync, realpathSync } from 'node:fs';
import { z } from 'zod';
import { pluginSpecs } from '../cell/plugins/load-plugins.js';
import { environmentSchema } from '../protocol/actions/common.js';
import type { Cell } from '../protocol/index.js';
import { defineBackend, type StartContext } from './backend.js';
import { newToken, reachExecutor } from './executor-program.js';
import { type Lease, takeLease } from './lease.js';
import { attachLocal, listLocal, localStats } from './local/attach-local.js';
import { type Home, keepHome, makeLastingHome, removeHome } from './local/local-home.js';
import { startLocalServer } from './local/local-server.js';
import { markVariable, reap } from './local/reap.js';
import { takeServer } from './local/warm.js';
import { servedCell } from './served-cell.js';
import type { ServerProcess } from './server-process.js';
import { openWorkspace } from './workspace.js';

export default defineBackend({
  type: 'local',
  options: {
    /** Default: a temporary directory that the backend removes at the end. */
    workspace: z.string().min(1).optional(),
    env: environmentSchema.default({}),
    /** How many started servers wait for future cells. */
    warm: z.int().min(0).max(64).default(0),
    /** The cell continues when this process ends, and you find it again by its id. Closing it still ends it. */
    keepAlive: z.boolean().default(false),
    /** Receives the server's log, line by line. */
    onLog: z
      .custom<(line: string) => void>((value) => typeof value === 'function', 'must be a function')
      .optional(),
  },

  async probe() {
    return {
      available: true,
      tier: 'none',
      summary: 'Runs commands on this machine in a process of its own, with no isolation.',
      advice: [],
    };
  },

  async start({ workspace: given, env, warm, keepAlive, onLog }, context) {
    const { id, signal, plugins = [] } = context;
    // Check it first, so that there is nothing to undo when it does not exist.
    const named = given === undefined ? undefined : openWorkspace(given).path;
    const token = newToken();
    const {
      home,
      process: server,
      lease,
    } = keepAlive ? await startLasting(id, token, named) : { ...takeServer(warm), lease: undefined };
    const workspace = named ?? makeWorkspace(home);
    if (onLog !== undefined) server.log.onLine = onLog;
    try {
      await server.begin(
        {
          id,
          token,
          workspace,
          keepAlive,
          plugins: pluginSpecs(plugins),
          socketPath: home.socketPath,
          temporary: home.temporary,
          env: { ...env, [markVariable]: id },
        },
        signal,
      );
      return await connect({ home, server, token, lease, context, isOwn: named === undefined });
    } catch (error) {
      lease?.release();
      await server.end();
      await reap(id);
      await removeHome(home);
      throw error;
    }
  },

  attach: attachLocal,
  list: listLocal,
  stats: localStats,
});

/** Makes the cell visible before its server begins, so that no server ever runs that nobody can find. */
async function startLasting(
  id: string,
  token: string,
  workspace: string | undefined,
): Promise<{ home: Home; process: ServerProcess; lease: Lease }> {
  const made = await makeLastingHome(id);
  const lease = await takeLease(id, made.path);
  const server = startLocalServer(made.path, { keepAlive: true });
  return { home: keepHome(made, { id, token, pid: server.pid, workspace }), process: server, lease };
}

function makeWorkspace(home: Home): string {
  mkdirSync(home.workspace, { mode: 0o700 });
  return realpathSync(home.workspace);
}

async function connect(parts: {
  home: Home;
  server: ServerProcess;
  token: string;
  /** For a kept cell. */
  lease: Lease | undefined;
  context: StartContext;
  /** Nobody named its workspace. */
  isOwn: boolean;
}): Promise<Cell> {
  const { home, server, token, lease, context, isOwn } = parts;
  const { id } = context;
  const gone = server.exited.then((how) => `The server of the cell ended: ${how}.${server.log.quote()}`);
  const reached = await reachExecutor({ socketPath: home.socketPath }, { token, gone }, context);
  let isEnding = false;
  return servedCell({
    id,
    backend: 'local',
    reached,
    lease,
    ownsWorkspace: isOwn,
    // End what a killed server leaves before reporting the loss; stopping the cell removes its files.
    lost: gone.then(async (reason) => {
      if (!isEnding) await reap(id);
      return reason;
    }),
    async end() {
      isEnding = true;
      await server.end();
      await reap(id);
      await removeHome(home);
    },
  });
}
