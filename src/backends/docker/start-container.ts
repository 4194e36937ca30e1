/** Starts one container with an executor in it, and ends it. */
import { existsSync } from 'node:fs';
import type { LoadedPlugin } from '../../cell/plugins/load-plugins.js';
import { actionsWith } from '../../cell/plugins/plugin-host.js';
import { type Cell, type NetworkSecret, type PublishedPort, WorkcellError } from '../../protocol/index.js';
import type { Container, ContainerDescription } from '../engines/docker-client.js';
import { type Engine, isGone, openEngine, reachEngine, refusalOf } from '../engines/docker-engine.js';
import { type ExecutorBundle, executorBundle } from '../images/bundle/executor-bundle.js';
import { dockerBuilder } from '../images/docker/docker-builder.js';
import { type Lease, takeLease } from '../lease.js';
import { shipPlugins } from '../shipped-plugins.js';
import { handsGroupDown } from '../workspace.js';
import { bootContainer } from './boot-container.js';
import {
  type ContainerParts,
  cellSettings,
  describeContainer,
  executorUser,
  pluginsInside,
} from './container.js';
import { readIsolation } from './container-facts.js';
import {
  furnish,
  type Home,
  makeHome,
  removeHome,
  writePlugins,
  writeSettings,
  writeState,
} from './container-home.js';
import { type ContainerNetwork, prepareNetwork } from './container-network.js';
import { openWire, type Wire } from './container-wire.js';
import { explainStart } from './diagnosis.js';
import type { DockerOptions } from './docker-options.js';
import { createHalt, type Halt } from './halt.js';
import { ownLabels } from './labels.js';
import { findNewVolumes, readVolume } from './volumes.js';

export interface StartOptions {
  readonly id: string;
  readonly signal?: AbortSignal | undefined;
  readonly plugins?: readonly LoadedPlugin[] | undefined;
  /** Gets the engine's progress while it fetches, line by line. */
  readonly onProgress?: ((message: string) => void) | undefined;
  readonly networkSecrets?: readonly NetworkSecret[] | undefined;
}

export async function startContainer(
  options: DockerOptions,
  { id, signal, plugins = [], onProgress, networkSecrets = [] }: StartOptions,
): Promise<Cell> {
  const engine = await openEngine(options.engine);
  const bundle = await openBundle(engine);
  const shipped = await shipPlugins(plugins, pluginsInside);
  const ruled = await prepareNetwork(options, engine, networkSecrets);
  const home = makeHome(id, options);
  let container: Container | undefined;
  let lease: Lease | undefined;
  try {
    // Take it before others can find the cell.
    if (options.keepAlive) lease = await takeLease(id, home.path);
    const { workspace, user, isOwn } = furnish(home, options);
    const setgidFiles = handsGroupDown(workspace);
    const executor = executorUser(user, options.ociRuntime);
    const { keepAlive } = options;
    const labels = ownLabels({ id, keepAlive, home: home.path });
    const parts: ContainerParts = {
      id,
      options,
      user,
      setgidFiles,
      labels,
      ...home,
      workspace,
      bundle,
      newVolumes: await findNewVolumes(engine.docker, options.volumes),
      isLocal: engine.host.startsWith('unix:'),
      shipped,
      ruled,
    };
    if (shipped.files.size > 0) writePlugins(home, shipped.files);
    writeSettings(home, cellSettings(parts));
    container = await create(engine, describeContainer(parts), { signal, onProgress });
    for (const network of options.networks) {
      await engine.docker.connectNetwork(network, container.id);
    }
    const booted = await bootContainer(engine, container, options, signal);
    await ruled?.open(home.wire);
    const gone = watch(engine, booted.ended, options);
    const halt = createHalt(container);
    const { halted } = halt;
    const wire = await openWire(container, {
      directory: home.wire,
      bundle,
      executor,
      gone,
      halted,
      signal,
      actions: actionsWith(plugins),
    });
    const isolation = readIsolation({
      options,
      user: { uid: user.uid, isOwn },
      isApart: executor !== user.uid,
      setgidFiles,
      kernel: booted.kernel,
    });
    if (keepAlive) writeState(home, { isolation, executor });
    const ports = options.ports.length === 0 ? [] : await publishedPorts(container);
    return { ...makeCell({ id, container, home, wire, halt, gone, lease, ruled }), isolation, ports };
  } catch (error) {
    ruled?.close();
    lease?.release();
    await removeContainer(container);
    await removeHome(home);
    throw await explainStart(engine, options, error);
  }
}

/** Pulls a missing image. */
async function create(
  { docker, host }: Engine,
  description: ContainerDescription,
  { signal, onProgress }: Pick<StartOptions, 'signal' | 'onProgress'>,
): Promise<Container> {
  try {
    return await docker.createContainer(description);
  } catch (error) {
    if (!/no such image/i.test(refusalOf(error).reason)) throw error;
  }
  const { Image: base, platform } = description;
  await dockerBuilder({ engine: host }).build(
    { base, executor: false, ...(platform !== undefined && { platform }) },
    { signal, onProgress: ({ message }) => onProgress?.(message) },
  );
  return docker.createContainer(description);
}

let opened: Promise<ExecutorBundle> | undefined;

/** One bundle for all cells of this process. Making it can take long, so report an unreachable engine first. */
export function openBundle(engine: Engine): Promise<ExecutorBundle> {
  opened ??= reachEngine(engine)
    .then(() => executorBundle())
    .catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
  return opened;
}

/** Refuses problems that need no engine: options that exclude each other, and missing volumes. */
export function checkOptions(options: DockerOptions): void {
  const { network, networks, ports, appPorts, pool, name, keepAlive, onLog, volumes } = options;
  for (const volume of volumes) readVolume(volume);
  if (['none', 'host'].includes(network) && networks.length > 0) {
    throw new WorkcellError(
      'invalid-config',
      `A cell with network: "${network}" cannot join others (${networks.join(', ')}). Name one of them as network.`,
    );
  }
  if (network === 'none' && ports.length + appPorts.length > 0) {
    throw new WorkcellError(
      'invalid-config',
      'A cell without a network cannot publish ports. Add network: "bridge", or forward a port with runtime.ports.forward, which needs none.',
    );
  }
  if (network === 'host' && appPorts.length > 0) {
    throw new WorkcellError(
      'invalid-config',
      'A cell in the network of the machine has no ports of its own. Use network: "bridge" with appPorts.',
    );
  }
  if (pool !== undefined && (name !== undefined || keepAlive || onLog !== undefined)) {
    throw new WorkcellError(
      'invalid-config',
      'A pool cannot hold cells with a name, keepAlive or onLog. Leave out pool, or these.',
    );
  }
}

/** Resolves with the reason when the container has ended by itself. */
async function watch(
  engine: Engine,
  ended: Promise<{ exitCode: number; oom: boolean }>,
  options: DockerOptions,
): Promise<string> {
  try {
    const { exitCode, oom } = await ended;
    if (oom) return 'The container ran out of memory and was killed. Raise limits.memoryBytes.';
    return `The container ended: ${exitCode === 137 ? 'it was killed' : `its executor exited with code ${exitCode}`}.`;
  } catch {
    // A kept cell works without the engine, and reports its own end.
    if (options.keepAlive) return new Promise(() => {});
    return `The Docker Engine at ${engine.host} went away, and the container with it.`;
  }
}

export function makeCell(parts: {
  id: string;
  container: Container;
  home: Home;
  wire: Wire;
  halt: Halt;
  gone?: Promise<string> | undefined;
  /** Of a kept cell. */
  lease?: Lease | undefined;
  ruled?: ContainerNetwork | undefined;
}): Omit<Cell, 'isolation'> {
  const { id, container, home, wire, halt, gone, lease, ruled } = parts;
  const { executor, info } = wire;
  const { pause, resume } = halt;
  let stopping: Promise<void> | undefined;
  return {
    id,
    backend: 'docker',
    executor,
    workspace: info.workspace,
    ownsWorkspace: existsSync(home.workspace),
    ...(ruled !== undefined && { network: ruled.gateway }),
    lost: gone === undefined ? executor.lost : Promise.race([gone, executor.lost]),
    stop() {
      stopping ??= (async () => {
        try {
          // Resume first: a paused executor cannot stop its commands. Ignore errors if it has ended.
          await resume().catch(() => {});
          await executor.close();
          wire.close();
        } finally {
          ruled?.close();
          lease?.release();
          await removeContainer(container);
          await removeHome(home);
        }
      })();
      return stopping;
    },
    ...(lease !== undefined && {
      detach() {
        stopping ??= executor.disconnect().then(() => {
          wire.close();
          lease.release();
        });
        return stopping;
      },
    }),
    pause,
    resume,
  };
}

export async function publishedPorts(container: Container): Promise<PublishedPort[]> {
  const { NetworkSettings } = await container.inspect();
  return Object.entries(NetworkSettings.Ports ?? {}).flatMap(([inside, outside]) =>
    (outside ?? []).map(({ HostPort }) => ({
      container: Number.parseInt(inside, 10),
      host: Number(HostPort),
    })),
  );
}

/** Also removes its anonymous volumes. Succeeds when the container no longer exists or is ending. */
export async function removeContainer(container: Container | undefined): Promise<void> {
  try {
    await container?.remove({ force: true, v: true });
  } catch (error) {
    const { status } = refusalOf(error);
    if (isGone(error) || status === undefined) return;
    // The engine removes it already, because it has ended.
    if (status === 409) await container?.wait({ condition: 'removed' }).catch(() => {});
    else throw error;
  }
}
