/**
 * Pods that wait in the cluster for a cell. Everything but their settings is ready; whoever patches the label of one
 * first has it.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { ExecutorBundle } from '../images/bundle/executor-bundle.js';
import { hasEnded } from './await-pod.js';
import { type ClusterClient, ClusterRefusal } from './cluster-client.js';
import type { KubernetesOptions } from './kubernetes-options.js';
import { type List, type Pod, podPath, podsPath, stateOf } from './objects.js';
import { claimOf, makeOwned } from './owned-objects.js';
import { cellContainer, describePod, podName } from './pod.js';
import { type PodMarks, poolLabel, waitingMarks } from './pod-labels.js';
import { removePod } from './remove-pod.js';

/** A pod that nobody takes for this long ends. */
const waitMs = 3_600_000;

export interface Shape {
  readonly options: KubernetesOptions;
  readonly bundle: Pick<ExecutorBundle, 'command' | 'hash'>;
  readonly name: string;
}

/** Pods of one shape can become the same cells. */
export function shapeOf({ options, bundle }: Pick<Shape, 'options' | 'bundle'>): Shape {
  const { volume } = options;
  const parts = { options, bundle, name: '', claim: claimOf('', '', options), waitMs };
  const pod = describePod({ ...parts, marks: waitingMarks('', options) });
  // The settings are of our version, and the pod does not say which that is.
  const whole = JSON.stringify([bundle.hash, volume, pod]);
  return { options, bundle, name: createHash('sha256').update(whole).digest('hex').slice(0, 32) };
}

/** Those that run and those that start. */
export async function findWaiting(
  client: ClusterClient,
  namespace: string,
  { name }: Pick<Shape, 'name'>,
): Promise<Pod[]> {
  const query = {
    labelSelector: `${poolLabel}=${name}`,
    fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed',
    // What the server has at hand suffices: one that is taken or gone refuses the patch.
    resourceVersion: 0,
  };
  const { items } = await client.ask<List<Pod>>('GET', podsPath(namespace), { query });
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

export function isReady(pod: Pod): boolean {
  return stateOf(pod, cellContainer)?.running !== undefined;
}

/** Makes it the caller's. Undefined when somebody else was first. */
export async function takeWaiting(
  client: ClusterClient,
  namespace: string,
  { metadata }: Pod,
  { shape, marks }: { readonly shape: string; readonly marks: PodMarks },
): Promise<Pod | undefined> {
  const { [poolLabel]: _pool, ...labels } = metadata.labels ?? {};
  const body = [
    { op: 'test', path: `/metadata/labels/${poolLabel}`, value: shape },
    { op: 'add', path: '/metadata/labels', value: { ...labels, ...marks.labels } },
    { op: 'add', path: '/metadata/annotations', value: { ...metadata.annotations, ...marks.annotations } },
  ];
  try {
    return await client.ask<Pod>('PATCH', podPath(namespace, metadata.name), { body });
  } catch (error) {
    if (error instanceof ClusterRefusal && [404, 409, 422].includes(error.status)) return undefined;
    throw error;
  }
}

const refills = new Map<string, Promise<void>>();

/**
 * Creates pods until so many wait, and removes those that no longer do. Starts at once take turns for each shape: each
 * would fill the whole pool otherwise. Never rejects: the next start that finds no pod tells its caller why none starts.
 */
export function refillPool(
  client: ClusterClient,
  namespace: string,
  shape: Shape,
  size: number,
): Promise<void> {
  const key = JSON.stringify([client.where, namespace, shape.name]);
  const turn = (refills.get(key) ?? Promise.resolve())
    .then(async () =>
      addWaiting(client, namespace, shape, size - (await sweepWaiting(client, namespace, shape))),
    )
    .catch(() => {})
    .finally(() => {
      if (refills.get(key) === turn) refills.delete(key);
    });
  refills.set(key, turn);
  return turn;
}

/** Removes those that ended, and those that have not started for so long that they never will. Returns how many wait. */
async function sweepWaiting(
  client: ClusterClient,
  namespace: string,
  { name: shape }: Pick<Shape, 'name'>,
): Promise<number> {
  const query = { labelSelector: `${poolLabel}=${shape}` };
  const { items } = await client.ask<List<Pod>>('GET', podsPath(namespace), { query });
  const here = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const gone = here.filter((pod) => hasEnded(pod) || (!isReady(pod) && ageOf(pod) > waitMs));
  await Promise.all(
    gone.map(({ metadata: { name, uid } }) => removePod(client, { namespace, name, uid }).catch(() => {})),
  );
  return here.length - gone.length;
}

function ageOf({ metadata }: Pod): number {
  return Date.now() - Date.parse(metadata.creationTimestamp ?? '');
}

/** Creates pods that wait. Does not wait until they run. */
export async function addWaiting(
  client: ClusterClient,
  namespace: string,
  { options, bundle, name: shape }: Shape,
  count: number,
): Promise<void> {
  await Promise.all(
    Array.from({ length: Math.max(0, count) }, async () => {
      const id = randomBytes(8).toString('hex');
      const marks = waitingMarks(shape, options);
      const claim = claimOf(id, 'pool', options);
      const body = describePod({ name: podName(id), options, bundle, claim, marks, waitMs });
      const pod = await client.create<Pod>(podsPath(namespace), body);
      await makeOwned(client, namespace, { id, options: { ...options, ports: [] }, claim, pod }).catch(
        async (error: unknown) => {
          // Without its volume it would wait and never start.
          const { name, uid } = pod.metadata;
          await removePod(client, { namespace, name, uid }).catch(() => {});
          throw error;
        },
      );
    }),
  );
}
