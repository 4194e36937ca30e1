/** Finds pods again: those that outlived their starter, and those that no process would end. */
import { type Cell, WorkcellError } from '../../protocol/index.js';
import type { FoundCell, StartContext } from '../backend.js';
import { givenLabels, homeOf, idLabel, isKept, isOrphan, keptSelector } from '../docker/labels.js';
import { leaseHolder, takeLease } from '../lease.js';
import { endOf, followPod } from './await-pod.js';
import { type ClusterClient, openCluster } from './cluster-client.js';
import { knowsCluster } from './kubeconfig.js';
import type { KubernetesOptions } from './kubernetes-options.js';
import { type List, type Pod, podsPath } from './objects.js';
import { explainRefusal } from './pod-diagnosis.js';
import { findPodHome, readPodState } from './pod-home.js';
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
  const pod = (await listOwn(client, namespace, `${idLabel}=${id}`)).find(({ metadata }) =>
    isKept(metadata.labels ?? {}),
  );
  const home = pod === undefined ? undefined : findPodHome(homeOf(pod.metadata.annotations ?? {}));
  const state = home === undefined ? undefined : readPodState(home);
  const end = pod === undefined ? undefined : endOf(pod);
  if (pod === undefined || home === undefined || state === undefined || end !== undefined) {
    const why =
      end ?? 'You can attach to cells that you start with keepAlive, on the machine that started them.';
    throw new WorkcellError(
      'cell-not-found',
      `There is no kubernetes cell "${id}" in the namespace "${namespace}" that this machine knows. ${why}`,
      { details: { id, namespace } },
    );
  }
  const lease = await takeLease(id, home);
  const { name, uid } = pod.metadata;
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
    lease.release();
    throw explainRefusal(error, { client, namespace, options: {} });
  }
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

const reaped = new Set<string>();
const ended = 'status.phase!=Pending,status.phase!=Running';

/** Removes pods whose owner died, once for each namespace. Nobody waits for it. */
export async function reapPods(client: ClusterClient, namespace: string): Promise<void> {
  const key = `${client.where} ${namespace}`;
  if (reaped.has(key)) return;
  reaped.add(key);
  try {
    const pods = await listOwn(client, namespace, idLabel);
    const orphans = pods.filter(({ metadata }) => isOrphan(metadata.labels ?? {}));
    for (const { metadata } of orphans)
      await removePod(client, { namespace, name: metadata.name, uid: metadata.uid });
    // They waited in a pool, and nobody took them.
    for (const { metadata } of await listOwn(client, namespace, poolLabel, ended))
      await removePod(client, { namespace, name: metadata.name, uid: metadata.uid });
  } catch {
    // The next process tries again.
  }
}

const pageSize = 500;

async function listOwn(...asked: Parameters<typeof eachOwn>): Promise<Pod[]> {
  const pods: Pod[] = [];
  for await (const pod of eachOwn(...asked)) pods.push(pod);
  return pods;
}

/** Page by page, because those of a whole namespace fill the memory. */
async function* eachOwn(
  client: ClusterClient,
  namespace: string,
  labelSelector: string,
  fieldSelector?: string,
): AsyncGenerator<Pod> {
  let token: string | undefined;
  try {
    do {
      const query = { labelSelector, fieldSelector, limit: pageSize, continue: token };
      const list: List<Pod> = await client.ask('GET', podsPath(namespace), { query });
      yield* list.items;
      token = list.metadata.continue || undefined;
    } while (token !== undefined);
  } catch (error) {
    throw explainRefusal(error, { client, namespace, options: {} });
  }
}
