/** Gets a running pod for a cell: a new one, or one that waits in the cluster. */
import { WorkcellError } from '../../protocol/index.js';
import { type FollowedPod, followPod } from './await-pod.js';
import type { ClusterClient } from './cluster-client.js';
import { type Pod, podPath, podsPath } from './objects.js';
import { makeOwned } from './owned-objects.js';
import { describePod, type PodParts, podName } from './pod.js';
import { explainSilence } from './pod-diagnosis.js';
import { startLabel } from './pod-labels.js';
import type { PodWatch } from './pod-watch.js';
import { connectedIn } from './probe-network.js';
import { removePod } from './remove-pod.js';
import { findWaiting, isReady, refillPool, shapeOf, takeWaiting } from './waiting-pods.js';

/** A start of a cell, as far as its pod is concerned. */
export interface PodOrder extends Omit<PodParts, 'name'> {
  readonly client: ClusterClient;
  readonly namespace: string;
  readonly id: string;
  /** Of the pods of this process. */
  readonly watch: PodWatch;
  readonly signal: AbortSignal | undefined;
}

/** A pod that is ours. */
export interface OwnPod {
  readonly name: string;
  readonly uid: string | undefined;
  readonly followed: FollowedPod;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether it could connect to what a policy must deny; undefined where it did not try. */
  readonly connected?: boolean | undefined;
  /** Settles when as many pods wait as the options say; never rejects. */
  readonly refilled?: Promise<void>;
}

export async function placePod(order: PodOrder): Promise<OwnPod> {
  const { pool } = order.options;
  if (pool?.shared !== true) return createPod(order);
  const { client, namespace } = order;
  const shape = shapeOf(order);
  const waiting = await findWaiting(client, namespace, shape);
  const taken = await takeOne(order, shape.name, waiting);
  const refilled = refillPool(client, namespace, shape, pool.size);
  return { ...(taken ?? (await createPod(order))), refilled };
}

/** Creates one and waits until it runs. Removes what it made when that fails. */
export async function createPod(order: PodOrder): Promise<OwnPod> {
  const { client, namespace, id, options, claim, watch, signal } = order;
  const name = podName(id);
  const followed = followPod(watch, name, options);
  let uid: string | undefined;
  try {
    const body = describePod({ ...order, name });
    const pod = await client.create<Pod>(podsPath(namespace), body, { signal });
    uid = pod.metadata.uid;
    await makeOwned(client, namespace, { id, options, claim, pod, signal });
    const started = await inTime(followed.running, options.startTimeoutMs, signal, () =>
      explainSilence({ client, namespace, options }, followed.last(), options.startTimeoutMs),
    );
    const { labels = {} } = pod.metadata;
    return { name, uid, followed, labels, connected: connectedIn(started) };
  } catch (error) {
    followed.stop();
    // When its creation got no answer, the pod under its name says whose it is.
    await (uid === undefined ? removeIfOurs(order, name) : removePod(client, { namespace, name, uid })).catch(
      () => {},
    );
    throw error;
  }
}

async function takeOne(order: PodOrder, shape: string, waiting: readonly Pod[]): Promise<OwnPod | undefined> {
  const { client, namespace, id, options, marks, watch, signal } = order;
  for (const candidate of shuffled(waiting.filter(isReady))) {
    const { name } = candidate.metadata;
    // Before it is ours, so that no end of it goes unnoticed.
    const followed = followPod(watch, name, options);
    try {
      const pod = await takeWaiting(client, namespace, candidate, { shape, marks });
      if (pod !== undefined) {
        // It has had its claim since it waits.
        await makeOwned(client, namespace, { id, options, claim: undefined, pod, signal });
        return { name, uid: pod.metadata.uid, followed, labels: pod.metadata.labels ?? {} };
      }
    } catch (error) {
      followed.stop();
      // It may be the cell of somebody else by now: a patch that fails does not say whose it is.
      await removeIfOurs(order, name).catch(() => {});
      throw error;
    }
    followed.stop();
  }
  return undefined;
}

/** Several starts at once begin at different ones. */
function shuffled<Item>(items: readonly Item[]): Item[] {
  const first = Math.floor(Math.random() * items.length);
  return [...items.slice(first), ...items.slice(0, first)];
}

/** Removes the pod with this name where it is that of this start. */
async function removeIfOurs({ client, namespace, marks }: PodOrder, name: string): Promise<void> {
  const { metadata } = await client.ask<Pod>('GET', podPath(namespace, name));
  if (metadata.annotations?.[startLabel] === marks.annotations[startLabel])
    await removePod(client, { namespace, name, uid: metadata.uid });
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
