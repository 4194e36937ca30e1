/** Finds containers again: those that outlived who started them, and those that nobody would end. */
import type { Container, ContainerInfo } from 'dockerode';
import { type Engine, engineTrouble, openEngine } from '../../engines/docker.js';
import { actionsWith } from '../../plugins/host.js';
import { type Cell, WorkcellError } from '../../protocol/index.js';
import type { StartContext } from '../backend.js';
import { makeCell, openBundle, removeContainer } from './cell.js';
import { awaitGreeting } from './greeting.js';
import { createHalt } from './halt.js';
import { homeAt, readState, removeHome } from './home.js';
import { homeOf, idLabel, isKept, isOrphan } from './labels.js';
import { openWire } from './wire.js';

/** Connects to a cell that was started with keepAlive, and starts its container again if that has ended. */
export async function attachContainer(id: string, { signal, plugins = [] }: StartContext): Promise<Cell> {
  const engine = await openEngine();
  const found = (await listOwn(engine)).find(({ Labels }) => Labels[idLabel] === id && isKept(Labels));
  const home = homeAt(homeOf(found?.Labels ?? {}) ?? '');
  const state = found === undefined ? undefined : readState(home);
  if (found === undefined || state === undefined) {
    throw new WorkcellError(
      'not-found',
      `There is no docker cell "${id}" on this machine. Cells can be attached to when they were started with keepAlive.`,
      { details: { id, engine: engine.host } },
    );
  }
  const container = engine.docker.getContainer(found.Id);
  await wake(engine, container, found, signal);
  const halt = createHalt(container);
  const { halted } = halt;
  const wire = await openWire(container, {
    directory: home.wire,
    bundle: await openBundle(engine),
    halted,
    signal,
    actions: actionsWith(plugins),
  });
  return { ...makeCell({ id, container, home, wire, halt }), isolation: state.isolation };
}

async function wake(
  engine: Engine,
  container: Container,
  { State: state }: ContainerInfo,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (state === 'paused') await container.unpause();
  if (state !== 'running' && state !== 'paused')
    await awaitGreeting(engine, container, { keepAlive: true }, signal);
}

export async function listContainers(): Promise<{ id: string; status: string }[]> {
  const engine = await openEngine();
  const all = await listOwn(engine);
  return all
    .filter(({ Labels }) => isKept(Labels))
    .map(({ Labels, State }) => ({
      id: Labels[idLabel] ?? '',
      status: State === 'exited' ? 'stopped' : State,
    }));
}

const reaped = new Set<string>();

/** Removes containers whose owner was killed, once for each engine. Nobody waits for it. */
export async function reap(engine: Engine): Promise<void> {
  if (reaped.has(engine.host)) return;
  reaped.add(engine.host);
  try {
    const orphans = (await listOwn(engine)).filter(({ Labels }) => isOrphan(Labels));
    await Promise.all(
      orphans.map(async ({ Id, Labels }) => {
        await removeContainer(engine.docker.getContainer(Id));
        removeHome(homeAt(homeOf(Labels) ?? ''));
      }),
    );
  } catch {
    // The next process tries again.
  }
}

async function listOwn(engine: Engine): Promise<ContainerInfo[]> {
  try {
    return await engine.docker.listContainers({ all: true, filters: { label: [idLabel] } });
  } catch (error) {
    throw engineTrouble(engine, error) ?? error;
  }
}
