/** Starts one pod with an executor in it, and ends it. */
import { randomUUID } from 'node:crypto';
import { type Cell, WorkcellError } from '../../protocol/index.js';
import { awaitHandshake, findHandshake, LogTail, type Ready } from '../await-handshake.js';
import type { StartContext } from '../backend.js';
import { newToken } from '../executor-program.js';
import { executorBundle } from '../images/bundle/executor-bundle.js';
import { type Lease, takeLease } from '../lease.js';
import { servedCell } from '../served-cell.js';
import { shipPlugins } from '../shipped-plugins.js';
import type { FollowedPod } from './await-pod.js';
import { attachToContainer } from './channels.js';
import { type ClusterClient, openCluster } from './cluster-client.js';
import { denyNetwork } from './deny-network.js';
import type { KubernetesOptions } from './kubernetes-options.js';
import { claimOf } from './owned-objects.js';
import { type OwnPod, placePod } from './place-pod.js';
import { cellContainer, cellSettings, pluginsInside } from './pod.js';
import { explainRefusal } from './pod-diagnosis.js';
import { readPodIsolation } from './pod-facts.js';
import { makePodHome, removePodHome, writePodState } from './pod-home.js';
import { ownSelector, podMarks } from './pod-labels.js';
import { watchPods } from './pod-watch.js';
import { openPodWire, type PodWire } from './pod-wire.js';
import { isDenied } from './probe-network.js';
import { removePod } from './remove-pod.js';

const handshakeMs = 60_000;

export async function startPod(options: KubernetesOptions, context: StartContext): Promise<Cell> {
  const { id, signal, plugins = [] } = context;
  const client = openCluster(options);
  const namespace = options.namespace ?? client.namespace;
  const [bundle, shipped] = await Promise.all([executorBundle(), shipPlugins(plugins, pluginsInside)]);
  const token = newToken();
  const home = options.keepAlive ? makePodHome(id) : undefined;
  let lease: Lease | undefined;
  let pod: OwnPod | undefined;
  try {
    // Before others can find it.
    if (home !== undefined) lease = await takeLease(id, home);
    const denial = options.network === 'none' ? await denyNetwork(client, namespace) : undefined;
    const start = randomUUID();
    const marks = podMarks({ id, options, home, start });
    const watch = watchPods(client, namespace, ownSelector());
    const claim = claimOf(id, start, options);
    // Where a policy is not enforced, the attempt costs nothing. Where it is, it takes a moment and shows that for a day.
    const probes = denial?.effect === 'not enforced' || (denial !== undefined && denial.effect === undefined);
    const order = { client, namespace, id, options, bundle, claim, marks, probes, watch, signal };
    pod = await placePod(order);
    const { name, followed } = pod;
    const settings = JSON.stringify(cellSettings({ id, options }, token, shipped));
    const { kernel } = await boot(client, { namespace, name }, settings, followed, signal);
    if (kernel === undefined)
      throw new WorkcellError(
        'backend-unavailable',
        'The executor in the pod does not say what the kernel enforces.',
      );
    const { gone } = followed;
    const wire = await openPodWire(client, { namespace, name }, { token, gone }, context);
    const networkDenied = denial !== undefined && (await isDenied(order, denial, pod));
    const isolation = readPodIsolation({ options, kernel, networkDenied });
    if (home !== undefined) writePodState(home, { token, isolation });
    return podCell({ id, pod, client, namespace, wire, isolation, lease, home });
  } catch (error) {
    lease?.release();
    pod?.followed.stop();
    if (pod !== undefined) await removePod(client, { ...pod, namespace }).catch(() => {});
    if (home !== undefined) await removePodHome(home);
    throw explainRefusal(error, { client, namespace, options });
  }
}

export interface PodCellParts {
  readonly id: string;
  readonly pod: Pick<OwnPod, 'name' | 'uid' | 'followed' | 'refilled'>;
  readonly client: ClusterClient;
  readonly namespace: string;
  readonly wire: PodWire;
  readonly isolation: Cell['isolation'];
  readonly lease: Lease | undefined;
  readonly home: string | undefined;
}

export function podCell(parts: PodCellParts): Cell {
  const { id, pod, client, namespace, wire, isolation, lease, home } = parts;
  const { executor } = wire.reached;
  const { followed, refilled } = pod;
  const cell = servedCell({
    id,
    backend: 'kubernetes',
    reached: wire.reached,
    isolation,
    lost: Promise.race([followed.gone, executor.lost]),
    lease,
    async end() {
      wire.close();
      followed.stop();
      await Promise.all([removePod(client, { ...pod, namespace }), refilled]);
      if (home !== undefined) await removePodHome(home);
    },
  });
  const { detach } = cell;
  return {
    ...cell,
    ...(detach !== undefined && {
      async detach() {
        await detach();
        followed.stop();
        wire.close();
      },
    }),
  };
}

/** Tells the executor its settings and waits until it listens. */
async function boot(
  client: ClusterClient,
  pod: { readonly namespace: string; readonly name: string },
  settings: string,
  followed: FollowedPod,
  signal: AbortSignal | undefined,
): Promise<Ready> {
  const log = new LogTail();
  let deliver = (_json: string | undefined): void => {};
  const said = new Promise<string | undefined>((resolve) => {
    deliver = resolve;
  });
  const attached = await attachToContainer(
    client,
    { ...pod, container: cellContainer },
    { out: findHandshake((json) => deliver(json), log), log: log.take },
  );
  try {
    attached.write(`${settings}\n`);
    void attached.closed.then(() => deliver(undefined));
    return await awaitHandshake({
      who: 'The executor in the pod',
      said,
      ended: followed.gone,
      limitMs: handshakeMs,
      signal,
      log,
    });
  } finally {
    attached.close();
  }
}
