/** Cells that live in a keeper: started there, found again, paused and ended, from any process of this user. */
import { mkdirSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { cacheDirectory } from '../../base/user-directories.js';
import { connectToOwnSocket } from '../../cell/launchers/unix-sockets.js';
import { pluginSpecs } from '../../cell/plugins/load-plugins.js';
import { actionsWith } from '../../cell/plugins/plugin-host.js';
import { type Cell, type Observation, WorkcellError } from '../../protocol/index.js';
import { connectExecutor } from '../../runtime/client/http-executor.js';
import type { FoundCell, StartContext, StatsContext } from '../backend.js';
import { executorStats, newToken } from '../executor-program.js';
import { type Lease, leaseHolder, takeLease } from '../lease.js';
import { withoutPresets } from '../open-gateway.js';
import { pausable } from '../pausable.js';
import { openWorkspace } from '../workspace.js';
import { callerGitSettings } from './git-identity.js';
import { askCell, type Life, openNetwork, startInKeeper, watchCell } from './keeper/keeper-client.js';
import {
  type CellHome,
  type CellState,
  cellHome,
  isPaused,
  listCellIds,
  makeCellHome,
  readState,
  removeCellHome,
  startedAt,
} from './keeper/kept-cell-home.js';
import { isListening } from './keeper/lines.js';
import type { SandboxOptions } from './sandbox-options.js';

/** Starts a cell whose executor is in a keeper. It ends with this process unless you keep it. */
export async function startKept(options: SandboxOptions, context: StartContext): Promise<Cell> {
  const { id, signal, plugins = [], networkSecrets = [] } = context;
  const { keepAlive, keeper, ...shape } = options;
  // Check it before anything starts, so that there is nothing to undo.
  const specs = pluginSpecs(plugins);
  const named = shape.workspace === undefined ? undefined : openWorkspace(shape.workspace).path;
  const { network } = shape;
  const ruled = typeof network === 'object' ? await withoutPresets(network, named) : network;
  const { home, lease } = await makeCellHome(id);
  const token = newToken();
  let life: Life | undefined;
  try {
    const workspace = named ?? makeWorkspace(home);
    life = await startInKeeper(
      {
        id,
        token,
        keepAlive,
        options: { ...shape, network: ruled, workspace, keepAlive, keeper },
        caller: {
          ...(named !== undefined && { gitSettings: await callerGitSettings(named) }),
          cacheDirectory: cacheDirectory(),
        },
        plugins: specs,
        secrets: networkSecrets.map(({ name, hosts, body }) => ({ name, hosts: [...hosts], body })),
      },
      { tenant: typeof keeper === 'string' ? keeper : undefined, signal },
    );
    return await connect({ token, home, lease, life, keepAlive, context });
  } catch (error) {
    if (life !== undefined) await askCell(home, id, { token, ask: 'stop' }).catch(() => {});
    life?.close();
    lease.release();
    await removeCellHome(home);
    throw error;
  }
}

export async function attachKept(id: string, _place: object, context: StartContext): Promise<Cell> {
  const token = tokenOf(id);
  const home = cellHome(id);
  const lease = await takeLease(id, home.path);
  let life: Life | undefined;
  try {
    life = await watchCell(home, id, token).catch(async (error: unknown) => {
      if (isDisconnected(error)) await removeCellHome(home);
      throw error;
    });
    if (isPaused(home)) await askCell(home, id, { token, ask: 'resume' });
    return await connect({ token, home, lease, life, keepAlive: true, context });
  } catch (error) {
    life?.close();
    lease.release();
    throw error;
  }
}

export async function keptStats(
  id: string,
  _place: object,
  { signal }: StatsContext,
): Promise<Observation<'stats'>> {
  const token = tokenOf(id);
  return executorStats({ connect: () => connectToOwnSocket(cellHome(id).socket) }, { token, signal });
}

/** Of the executor of a cell that somebody keeps. */
function tokenOf(id: string): string {
  const state = readState(id);
  if (state?.keepAlive) return state.token;
  throw new WorkcellError(
    'cell-not-found',
    `There is no sandbox cell "${id}". You can attach to cells that you start with keepAlive.`,
    { details: { id } },
  );
}

/** Also removes the remains of an unkept cell whose keeper died. */
export async function listKept(): Promise<FoundCell[]> {
  const found = await Promise.all(
    (await listCellIds()).map(async (id): Promise<FoundCell | undefined> => {
      const home = cellHome(id);
      const state = readState(id);
      const runs = await isListening(home.control);
      const heldBy = await leaseHolder(home.path);
      if (state?.keepAlive !== true) {
        if (!runs && heldBy === undefined) await removeCellHome(home);
        return undefined;
      }
      return {
        id,
        status: runs ? (isPaused(home) ? 'paused' : 'running') : 'lost',
        startedAt: startedAt(home),
        workspace: state.workspace,
        isolation: state.isolation.tier,
        heldBy,
      };
    }),
  );
  return found.filter((info) => info !== undefined);
}

async function connect(parts: {
  token: string;
  home: CellHome;
  lease: Lease;
  life: Life;
  keepAlive: boolean;
  context: StartContext;
}): Promise<Cell> {
  const { token, home, lease, life, keepAlive, context } = parts;
  const { id, signal, plugins = [], networkSecrets = [] } = context;
  const state = readState(id);
  const network = state?.isRuled ? await openNetwork(home, id, token) : undefined;
  network?.provide(networkSecrets);
  let halted = (): Promise<void> | undefined => undefined;
  const { executor, info } = await connectExecutor(
    { connect: () => connectToOwnSocket(home.socket) },
    { token, gone: life.ended, halted: () => halted(), signal, actions: actionsWith(plugins) },
  );
  const gate = pausable(executor, async () => {
    await askCell(home, id, { token, ask: 'pause' });
    return () => askCell(home, id, { token, ask: 'resume' });
  });
  ({ halted } = gate);
  let stopping: Promise<void> | undefined;
  const leave = () => {
    network?.close();
    life.close();
    lease.release();
  };
  return {
    id,
    backend: 'sandbox',
    executor: gate.executor,
    pause: gate.pause,
    resume: gate.resume,
    isolation: info.isolation,
    workspace: info.workspace,
    ...(state !== undefined && ownWorkspace(home, state)),
    ...(network !== undefined && { network }),
    lost: Promise.race([life.ended, executor.lost]),
    stop() {
      stopping ??= (async () => {
        await executor.disconnect();
        // When the keeper has ended, so has the cell; only its files remain.
        await askCell(home, id, { token, ask: 'stop' })
          .catch((error: unknown) => {
            if (!isDisconnected(error)) throw error;
          })
          .finally(leave);
        await removeCellHome(home);
      })();
      return stopping;
    },
    ...(keepAlive && {
      detach() {
        stopping ??= executor.disconnect().then(leave);
        return stopping;
      },
    }),
  };
}

/** Unless it works in a directory that somebody named. */
function ownWorkspace(
  home: CellHome,
  { workspace }: CellState,
): Pick<Cell, 'ownsWorkspace' | 'workspaceRoot'> {
  const own = realpathSync(home.path);
  if (workspace !== join(own, basename(home.workspace))) return {};
  return { ownsWorkspace: true, workspaceRoot: workspace };
}

function makeWorkspace(home: CellHome): string {
  mkdirSync(home.workspace, { mode: 0o700 });
  return realpathSync(home.workspace);
}

function isDisconnected(error: unknown): boolean {
  return WorkcellError.isInstance(error) && error.code === 'runtime-disconnected';
}
