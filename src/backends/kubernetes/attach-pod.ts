/** Finds pods again: those that outlived their starter, and those that no process would end. */
import { type Cell, type Observation, WorkcellError } from '../../protocol/index.js';
import type { FoundCell, StartContext, StatsContext } from '../backend.js';
import {
  givenLabels,
  homeOf,
  idLabel,
  isKept,
  isOrphan,
  keptSelector,
  ownedSelector,
} from '../docker/labels.js';
import { leaseHolder, takeLease } from '../lease.js';
import { endOf, followPod, hasEnded } from './await-pod.js';
import { type ClusterClient, openCluster } from './cluster-client.js';
import { knowsCluster } from './kubeconfig.js';
import type { KubernetesOptions } from './kubernetes-options.js';
import { type List, type Pod, podsPath } from './objects.js';
import { explainRefusal } from './pod-diagnosis.js';
import { findPodHome, readPodState, removePodHome } from './pod-home.js';
import { networkLabel, poolLabel } from './pod-labels.js';
import { watchPods } from './pod-watch.js';
import { openPodWire } from './pod-wire.js';
import { removePod } from './remove-pod.js';
import { podCell } from './start-pod.js';

type Place = Pick<KubernetesOptions, 'kubeconfig' | 'context' | 'namespace'>;

/** Connects to a kept cell. */
export async function attachPod(id: string, place: Place, context: StartContext): Promise<Cell> {
  const client = openCluster(place);
  const namespace = place.namespace ?? client.namespace;
  const pod = await findKept(client, namespace, id);
  const { name, uid } = pod.metadata;
  const home = findPodHome(homeOf(pod.metadata.annotations ?? {}));
  const lease = home === undefined ? undefined : await takeLease(id, home);
  try {
    const end = endOf(pod);
    if (end !== undefined) {
      await remove(client, namespace, pod);
      if (home !== undefined) await removePodHome(home);
      throw new WorkcellError(
        'runtime-disconnected',
        `The kubernetes cell "${id}" has ended, and its remains are removed. ${end}`,
        { details: { id, namespace } },
      );
    }
    const state = home === undefined ? undefined : readPodState(home);
    if (home === undefined || state === undefined) throw withoutToken(id, namespace, name);
    // One watch for all cells that this process attaches to.
    const watch = watchPods(client, namespace, keptSelector);
    const followed = followPod(watch, name, { image: '', executorImage: '' });
    watch.expect(name);
    try {
      const { token, isolation } = state;
      const { gone } = followed;
      const wire = await openPodWire(client, { namespace, name }, { token, gone }, context);
      return podCell({ id, pod: { name, uid, followed }, client, namespace, wire, isolation, lease, home });
    } catch (error) {
      followed.stop();
      throw error;
    }
  } catch (error) {
    lease?.release();
    throw explainRefusal(error, { client, namespace, options: {} });
  }
}

/** What a running kept cell uses, over a connection of its own. */
export async function podStats(
  id: string,
  place: Place,
  { signal }: StatsContext,
): Promise<Observation<'stats'>> {
  const client = openCluster(place);
  const namespace = place.namespace ?? client.namespace;
  const { metadata } = await findKept(client, namespace, id);
  const { name } = metadata;
  const home = findPodHome(homeOf(metadata.annotations ?? {}));
  const state = home === undefined ? undefined : readPodState(home);
  if (state === undefined) throw withoutToken(id, namespace, name);
  const wire = await openPodWire(client, { namespace, name }, state, { id, onStatus() {}, signal });
  const { executor } = wire.reached;
  try {
    return await executor.execute<'stats'>({ action: 'stats' }, { signal });
  } finally {
    // What was answered counts, also where the connection breaks as it ends.
    await executor.disconnect().catch(() => {});
    wire.close();
  }
}

function withoutToken(id: string, namespace: string, pod: string): WorkcellError {
  return new WorkcellError(
    'cell-not-found',
    `This user of this machine cannot reach the kubernetes cell "${id}": only the one who started it has its token. If nobody has it any more, remove the cell with: kubectl delete pod --namespace ${namespace} ${pod}`,
    { details: { id, namespace } },
  );
}

async function findKept(client: ClusterClient, namespace: string, id: string): Promise<Pod> {
  for await (const pod of eachOwn(client, namespace, `${idLabel}=${id},${keptSelector}`))
    if (isKept(pod.metadata.labels ?? {})) return pod;
  throw new WorkcellError(
    'cell-not-found',
    `There is no kubernetes cell "${id}" in the namespace "${namespace}". You can attach to cells that you start with keepAlive.`,
    { details: { id, namespace } },
  );
}

/** None where nobody names a cluster and this machine knows of none. */
export async function listPods(place: Place): Promise<FoundCell[]> {
  if (place.namespace === undefined && !knowsCluster(place)) return [];
  const client = openCluster(place);
  const namespace = place.namespace ?? client.namespace;
  const cells: FoundCell[] = [];
  for await (const pod of eachOwn(client, namespace, `${idLabel},${keptSelector}`))
    if (isKept(pod.metadata.labels ?? {})) cells.push(await describe(pod));
  return cells;
}

async function describe(pod: Pod): Promise<FoundCell> {
  const { labels = {}, annotations = {}, creationTimestamp } = pod.metadata;
  const home = findPodHome(homeOf(annotations));
  const state = home === undefined ? undefined : readPodState(home);
  const { [networkLabel]: _network, ...given } = givenLabels(labels);
  return {
    id: labels[idLabel] ?? '',
    status: state === undefined || endOf(pod) !== undefined ? 'lost' : 'running',
    startedAt: creationTimestamp === undefined ? undefined : new Date(creationTimestamp),
    isolation: state?.isolation.tier,
    labels: given,
    heldBy: home === undefined ? undefined : await leaseHolder(home),
  };
}

const reapEveryMs = 600_000;
/** When it last looked in a namespace. */
const reaped = new Map<string, number>();

/**
 * Removes pods whose owner died, and those that ended on any machine, now and then in each namespace. Nobody waits
 * for it.
 */
export async function reapPods(client: ClusterClient, namespace: string): Promise<void> {
  const key = `${client.where} ${namespace}`;
  if (Date.now() - (reaped.get(key) ?? 0) < reapEveryMs) return;
  reaped.set(key, Date.now());
  try {
    // Nobody may ever look it up again on the machine that its owner was on.
    for await (const pod of eachOwn(client, namespace, `${idLabel},${ownedSelector}`))
      if (isOrphan(pod.metadata.labels ?? {}) || hasEnded(pod)) await remove(client, namespace, pod);
    // They waited in a pool, and nobody took them.
    for await (const pod of eachOwn(client, namespace, poolLabel))
      if (hasEnded(pod)) await remove(client, namespace, pod);
  } catch {
    reaped.delete(key);
  }
}

function remove(client: ClusterClient, namespace: string, { metadata }: Pod): Promise<void> {
  return removePod(client, { namespace, name: metadata.name, uid: metadata.uid });
}

const pageSize = 500;

/** Page by page, because those of a whole namespace fill the memory. */
async function* eachOwn(
  client: ClusterClient,
  namespace: string,
  labelSelector: string,
): AsyncGenerator<Pod> {
  let token: string | undefined;
  try {
    do {
      const query = { labelSelector, limit: pageSize, continue: token };
      const list: List<Pod> = await client.ask('GET', podsPath(namespace), { query });
      yield* list.items;
      token = list.metadata.continue || undefined;
    } while (token !== undefined);
  } catch (error) {
    throw explainRefusal(error, { client, namespace, options: {} });
  }
}
