/** Finds cells again that outlived the process that started them. */
import { type Cell, type Observation, WorkcellError } from '../../protocol/index.js';
import type { FoundCell, StartContext, StatsContext } from '../backend.js';
import { executorStats, reachExecutor } from '../executor-program.js';
import { leaseHolder, takeLease } from '../lease.js';
import { servedCell } from '../served-cell.js';
import {
  isRunning,
  keptSince,
  lastingCells,
  openLastingHome,
  readState,
  removeHome,
  type State,
} from './local-home.js';
import { reap } from './reap.js';

/** How long a server may take to end in order. */
const patienceMs = 5000;

export async function attachLocal(id: string, _place: object, context: StartContext): Promise<Cell> {
  const state = stateOf(id);
  const home = openLastingHome(id);
  const lease = await takeLease(id, home.path);
  const clean = async () => {
    await end(state);
    await reap(id);
    await removeHome(home);
  };
  const reached = await reachExecutor({ socketPath: home.socketPath }, { token: state.token }, context).catch(
    async (error: unknown) => {
      const silent = WorkcellError.isInstance(error) && error.code === 'runtime-disconnected';
      const runs = isRunning(state);
      if (silent && !runs) await clean();
      lease.release();
      if (!silent || !runs) throw error;
      // It may be stopped or overloaded; do not throw away the content of the cell.
      throw new WorkcellError(
        'runtime-disconnected',
        `The server of the local cell "${id}" runs as process ${state.pid} and does not answer. Workcell ended nothing: try again, or end that process.`,
        { details: { id, pid: state.pid }, cause: error },
      );
    },
  );
  const ownsWorkspace = state.workspace === undefined;
  return servedCell({ id, backend: 'local', reached, lease, ownsWorkspace, end: clean });
}

export async function localStats(
  id: string,
  _place: object,
  { signal }: StatsContext,
): Promise<Observation<'stats'>> {
  const { token } = stateOf(id);
  return executorStats({ socketPath: openLastingHome(id).socketPath }, { token, signal });
}

function stateOf(id: string): State {
  const state = readState(id);
  if (state !== undefined) return state;
  throw new WorkcellError(
    'cell-not-found',
    `There is no local cell "${id}". You can attach to cells that you start with keepAlive.`,
    { details: { id } },
  );
}

export async function listLocal(): Promise<FoundCell[]> {
  return Promise.all(
    (await lastingCells()).map(async (state) => {
      const { path, workspace } = openLastingHome(state.id);
      return {
        id: state.id,
        status: isRunning(state) ? 'running' : 'lost',
        startedAt: keptSince(state.id),
        workspace: state.workspace ?? workspace,
        isolation: 'none',
        heldBy: await leaseHolder(path),
      };
    }),
  );
}

/** It is not our child, so no event reports its end. It has nothing left to do and ends within moments. */
async function end(state: State): Promise<void> {
  const started = performance.now();
  if (isRunning(state)) signal(state.pid, 'SIGTERM');
  while (isRunning(state) && performance.now() - started < 2 * patienceMs) {
    if (performance.now() - started > patienceMs) signal(state.pid, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It went in between.
  }
}
