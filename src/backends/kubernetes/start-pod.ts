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
import { type FollowedPod, followPod } from './await-pod.js';
import { attachToContainer } from './channels.js';
import { type ClusterClient, ClusterRefusal, openCluster } from './cluster-client.js';
import { denyNetwork } from './deny-network.js';
import type { KubernetesOptions } from './kubernetes-options.js';
import { type Pod, podPath, podsPath } from './objects.js';
import { claimOf, makeOwned } from './owned-objects.js';
import { cellContainer, cellSettings, describePod, pluginsInside, podName } from './pod.js';
import { explainRefusal, explainSilence } from './pod-diagnosis.js';
import { readPodIsolation } from './pod-facts.js';
import { makePodHome, removePodHome, writePodState } from './pod-home.js';
import { ownSelector, startLabel } from './pod-labels.js';
import { watchPods } from './pod-watch.js';
import { openPodWire, type PodWire } from './pod-wire.js';

const handshakeMs = 60_000;

export async function startPod(options: KubernetesOptions, context: StartContext): Promise<Cell> {
  const { id, signal, plugins = [] } = context;
  const client = openCluster(options);
  const namespace = options.namespace ?? client.namespace;
  const name = podName(id);
  const asked = { client, namespace, options };
  const [bundle, shipped] = await Promise.all([executorBundle(), shipPlugins(plugins, pluginsInside)]);
  const token = newToken();
  const home = options.keepAlive ? makePodHome(id) : undefined;
  const followed = followPod(watchPods(client, namespace, ownSelector()), name, options);
  const start = randomUUID();
  let lease: Lease | undefined;
  let mayExist = false;
  let uid: string | undefined;
  try {
    // Before others can find it.
    if (home !== undefined) lease = await takeLease(id, home);
    if (options.network === 'none') await denyNetwork(client, namespace);
    const body = describePod({ id, options, bundle, claim: claimOf(id, options), home, start });
    mayExist = true;
    const pod = await client.ask<Pod>('POST', podsPath(namespace), { body, signal });
    uid = pod.metadata.uid;
    await makeOwned(client, namespace, { id, options, pod });
    await inTime(followed.running, options.startTimeoutMs, signal, () =>
      explainSilence(asked, followed.last(), options.startTimeoutMs),
    );
    const settings = JSON.stringify(cellSettings({ id, options }, token, shipped));
    const { kernel } = await boot(client, { namespace, name }, settings, followed, signal);
    if (kernel === undefined)
      throw new WorkcellError(
        'backend-unavailable',
        'The executor in the pod does not say what the kernel enforces.',
      );
    const { gone } = followed;
    const wire = await openPodWire(client, { namespace, name }, { token, gone }, context);
    const isolation = readPodIsolation({ options, kernel, networkDenied: false });
    if (home !== undefined) writePodState(home, { token, isolation });
    return podCell({ id, uid, client, namespace, wire, followed, isolation, lease, home });
  } catch (error) {
    lease?.release();
    followed.stop();
    if (mayExist) await removeMade(client, { namespace, name, uid }, start).catch(() => {});
    if (home !== undefined) await removePodHome(home);
    throw explainRefusal(error, asked);
  }
}

export interface PodCellParts {
  readonly id: string;
  /** Of the pod. */
  readonly uid: string | undefined;
  readonly client: ClusterClient;
  readonly namespace: string;
  readonly wire: PodWire;
  readonly followed: FollowedPod;
  readonly isolation: Cell['isolation'];
  readonly lease: Lease | undefined;
  readonly home: string | undefined;
}

export function podCell(parts: PodCellParts): Cell {
  const { id, uid, client, namespace, wire, followed, isolation, lease, home } = parts;
  const { executor } = wire.reached;
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
      await removePod(client, { namespace, name: podName(id), uid });
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

export interface NamedPod {
  readonly namespace: string;
  readonly name: string;
  /** Another pod may have the name by now. */
  readonly uid: string | undefined;
}

/** Also removes what it owns. Succeeds when it no longer exists. */
export async function removePod(client: ClusterClient, { namespace, name, uid }: NamedPod): Promise<void> {
  if (uid === undefined) return;
  try {
    await client.ask('DELETE', podPath(namespace, name), {
      body: {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        gracePeriodSeconds: 0,
        propagationPolicy: 'Background',
        preconditions: { uid },
      },
    });
  } catch (error) {
    if (error instanceof ClusterRefusal && (error.status === 404 || error.status === 409)) return;
    throw error;
  }
}

/** Removes the pod of this start alone. When its creation got no answer, the pod under its name says whose it is. */
async function removeMade(client: ClusterClient, pod: NamedPod, start: string): Promise<void> {
  if (pod.uid !== undefined) return removePod(client, pod);
  const { metadata } = await client.ask<Pod>('GET', podPath(pod.namespace, pod.name));
  if (metadata.annotations?.[startLabel] === start) await removePod(client, { ...pod, uid: metadata.uid });
}

async function inTime<T>(
  promise: Promise<T>,
  limitMs: number,
  signal: AbortSignal | undefined,
  late: () => Promise<Error>,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort = () => {};
  const interrupted = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => void late().then(reject), limitMs);
    onAbort = () => reject(new WorkcellError('cancelled', 'The start of the cell was cancelled.'));
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, interrupted]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}
