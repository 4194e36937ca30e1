/** Finds containers again: those that outlived their starter, and those that no process would end. */
import { actionsWith } from '../../cell/plugins/plugin-host.js';
import { type Cell, type Observation, WorkcellError } from '../../protocol/index.js';
import type { FoundCell, StartContext, StatsContext } from '../backend.js';
import type { Container, ContainerInfo } from '../engines/docker-client.js';
import { type Engine, engineTrouble, openEngine } from '../engines/docker-engine.js';
import { type Lease, leaseHolder, takeLease } from '../lease.js';
import { bootContainer } from './boot-container.js';
import { workspaceInside } from './container.js';
import { findHome, type Home, readState, removeHome } from './container-home.js';
import { openWire } from './container-wire.js';
import { createHalt } from './halt.js';
import { backendOf, givenLabels, homeOf, idLabel, isKept, isOrphan } from './labels.js';
import { makeCell, openBundle, publishedPorts, removeContainer } from './start-container.js';

/** Where the cells are. */
interface DockerPlace {
  readonly engine?: string | undefined;
}

/** Connects to a kept cell, and restarts its container if that has ended. */
export async function attachContainer(
  backend: string,
  id: string,
  { engine: host }: DockerPlace,
  context: StartContext,
): Promise<Cell> {
  const engine = await openEngine(host);
  const { found, home, state } = await findKept(engine, backend, id);
  const lease = await takeLease(id, home.path);
  try {
    return {
      ...(await connect(engine, found, { home, lease, executor: state.executor }, context)),
      backend,
      isolation: state.isolation,
    };
  } catch (error) {
    lease.release();
    throw error;
  }
}

/** What a running kept cell uses, over a connection of its own. */
export async function containerStats(
  backend: string,
  id: string,
  { engine: host }: DockerPlace,
  { signal }: StatsContext,
): Promise<Observation<'stats'>> {
  const engine = await openEngine(host);
  const { found, home, state } = await findKept(engine, backend, id);
  const wire = await openWire(engine.docker.getContainer(found.Id), {
    directory: home.wire,
    bundle: await openBundle(engine),
    executor: state.executor,
    signal,
    actions: actionsWith([]),
  });
  try {
    return await wire.executor.execute<'stats'>({ action: 'stats' }, { signal });
  } finally {
    try {
      await wire.executor.disconnect();
    } catch {
      // What was answered counts, also where the connection breaks as it ends.
    } finally {
      wire.close();
    }
  }
}

async function findKept(engine: Engine, backend: string, id: string) {
  const found = (await listKept(engine, backend)).find(({ Labels }) => Labels[idLabel] === id);
  const home = findHome(homeOf(found?.Labels ?? {}));
  const state = home === undefined ? undefined : readState(home);
  if (found !== undefined && home !== undefined && state !== undefined) return { found, home, state };
  throw new WorkcellError(
    'cell-not-found',
    `There is no ${backend} cell "${id}" on this machine. You can attach to cells that you start with keepAlive.`,
    { details: { id, engine: engine.host } },
  );
}

async function connect(
  engine: Engine,
  found: ContainerInfo,
  { home, lease, executor }: { home: Home; lease: Lease; executor: number },
  { id, signal, plugins = [] }: StartContext,
): Promise<Omit<Cell, 'isolation'>> {
  const container = engine.docker.getContainer(found.Id);
  await wake(engine, container, found, signal);
  const halt = createHalt(container);
  const { halted } = halt;
  const wire = await openWire(container, {
    directory: home.wire,
    bundle: await openBundle(engine),
    executor,
    halted,
    signal,
    actions: actionsWith(plugins),
  });
  const cell = makeCell({ id, container, home, wire, halt, lease });
  return { ...cell, ports: await publishedPorts(container) };
}

async function wake(
  engine: Engine,
  container: Container,
  { State: state }: ContainerInfo,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (state === 'paused') await container.unpause();
  if (state !== 'running' && state !== 'paused')
    await bootContainer(engine, container, { keepAlive: true }, signal);
}

export async function listContainers(backend: string, { engine: host }: DockerPlace): Promise<FoundCell[]> {
  const kept = await listKept(await openEngine(host), backend);
  return Promise.all(
    kept.map(async ({ Labels: labels, State: state, Created: created, Mounts: mounts }) => {
      const home = findHome(homeOf(labels));
      const kept = home === undefined ? undefined : readState(home);
      return {
        id: labels[idLabel] ?? '',
        status: kept === undefined ? 'lost' : state === 'running' || state === 'paused' ? state : 'stopped',
        startedAt: new Date(created * 1000),
        workspace: mounts.find(({ Destination }) => Destination === workspaceInside)?.Source,
        isolation: kept?.isolation.tier,
        labels: givenLabels(labels),
        heldBy: home === undefined ? undefined : await leaseHolder(home.path),
      };
    }),
  );
}

const reaped = new Set<string>();

/** Removes containers whose owner died, once for each engine. Nobody waits for it. */
export async function reap(engine: Engine): Promise<void> {
  if (reaped.has(engine.host)) return;
  reaped.add(engine.host);
  try {
    const orphans = (await listOwn(engine)).filter(({ Labels }) => isOrphan(Labels));
    await Promise.all(
      orphans.map(async ({ Id, Labels }) => {
        await removeContainer(engine.docker.getContainer(Id));
        const home = findHome(homeOf(Labels));
        if (home !== undefined) await removeHome(home);
      }),
    );
  } catch {
    // The next process tries again.
  }
}

async function listKept(engine: Engine, backend: string): Promise<ContainerInfo[]> {
  const all = await listOwn(engine);
  return all.filter(({ Labels }) => isKept(Labels) && backendOf(Labels) === backend);
}

async function listOwn(engine: Engine): Promise<ContainerInfo[]> {
  try {
    return await engine.docker.listContainers({ all: true, filters: { label: [idLabel] } });
  } catch (error) {
    throw engineTrouble(engine, error) ?? error;
  }
}
