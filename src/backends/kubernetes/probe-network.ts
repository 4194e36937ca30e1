/** Finds out whether the cluster keeps cells without a network from connecting to anything. */
import { randomBytes, randomUUID } from 'node:crypto';
import { hasEnded } from './await-pod.js';
import { type Effect, type NetworkDenial, noteEffect } from './deny-network.js';
import { type Pod, podsPath, stateOf } from './objects.js';
import type { OwnPod, PodOrder } from './place-pod.js';
import { describeProbe, executorContainer, podName } from './pod.js';
import { podMarks } from './pod-labels.js';
import { removePod } from './remove-pod.js';

const probeMs = 30_000;

/** True when nothing leaves the pod of a cell, because of the policy. */
export async function isDenied(
  order: PodOrder,
  denial: NetworkDenial,
  { labels, connected }: Pick<OwnPod, 'labels' | 'connected'>,
): Promise<boolean> {
  const effect = await effectOn(order, denial, connected);
  if (effect !== undefined && effect !== denial.effect)
    await noteEffect(order.client, order.namespace, effect);
  return effect === 'enforced' && !denial.allows(labels);
}

async function effectOn(
  order: PodOrder,
  { effect }: NetworkDenial,
  connected: boolean | undefined,
): Promise<Effect | undefined> {
  if (connected === true) return 'not enforced';
  // It was not asked, or somebody knows already what its silence means.
  if (connected === undefined || effect === 'enforced' || effect === 'not known') return effect;
  const control = await connectsWithoutPolicy(order);
  // Without an answer, the next start tries again.
  if (control === undefined) return undefined;
  return control ? 'enforced' : 'not known';
}

/** Has a pod that the policy does not select try the same; undefined where it could not. */
async function connectsWithoutPolicy(order: PodOrder): Promise<boolean | undefined> {
  const { client, namespace, bundle, watch } = order;
  const id = randomBytes(8).toString('hex');
  const name = podName(id);
  const options = { ...order.options, network: 'open', keepAlive: false } as const;
  const marks = podMarks({ id, options, home: undefined, start: randomUUID() });
  let stop = () => {};
  let timer: NodeJS.Timeout | undefined;
  const connected = new Promise<boolean | undefined>((resolve) => {
    timer = setTimeout(resolve, probeMs, undefined);
    stop = watch.follow(
      name,
      (pod) => {
        if (pod === undefined || hasEnded(pod)) resolve(pod && connectedIn(pod));
      },
      () => resolve(undefined),
    );
  });
  let uid: string | undefined;
  try {
    const body = describeProbe({ name, options, bundle, marks });
    const pod = await client.create<Pod>(podsPath(namespace), body, { signal: order.signal });
    uid = pod.metadata.uid;
    return await connected;
  } catch {
    // A quota may not leave room for it.
    return undefined;
  } finally {
    clearTimeout(timer);
    stop();
    await removePod(client, { namespace, name, uid }).catch(() => {});
  }
}

/** What the first container of a pod found; undefined where it did not try. */
export function connectedIn(pod: Pod): boolean | undefined {
  const { message = '' } = stateOf(pod, executorContainer)?.terminated ?? {};
  return message.startsWith('connected') ? true : message.startsWith('silence') ? false : undefined;
}
