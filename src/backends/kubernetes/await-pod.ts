/** Waits until the container of a cell runs, and then for its end. */
import { WorkcellError } from '../../protocol/index.js';
import { deferred } from '../../runtime/client/deferred.js';
import { type ContainerState, type Pod, stateOf } from './objects.js';
import { cellContainer, executorContainer } from './pod.js';
import { warningsAbout } from './pod-diagnosis.js';
import type { PodWatch } from './pod-watch.js';

export interface FollowedPod {
  /** Settles when the container runs, with the pod; rejects when it cannot, with what the cluster says. */
  readonly running: Promise<Pod>;
  /** Settles with the reason when the pod has ended. */
  readonly gone: Promise<string>;
  /** The last state that the cluster reported before it ran. */
  last(): Pod | undefined;
  stop(): void;
}

/** Call it before you create the pod. */
export function followPod(
  watch: PodWatch,
  name: string,
  images: { readonly image: string; readonly executorImage: string },
): FollowedPod {
  let last: Pod | undefined;
  /** Why the cluster takes it away. It says so before it does. */
  let disruption: string | undefined;
  const running = deferred<Pod>();
  const gone = deferred<string>();
  const onState = (pod: Pod | undefined) => {
    last = pod ?? last;
    const obstacle = pod === undefined ? undefined : obstacleIn(pod, images);
    if (obstacle !== undefined) running.reject(obstacle);
    disruption = disruptionOf(pod) ?? disruption;
    const end = pod === undefined ? (disruption ?? endOf(pod)) : endOf(pod);
    if (end !== undefined) {
      running.reject(new WorkcellError('backend-unavailable', `The pod ${name} did not start: ${end}`));
      void explainEnd(watch, pod, end).then(gone.resolve);
    } else if (pod !== undefined && stateOf(pod, cellContainer)?.running !== undefined) {
      running.resolve(pod);
      // Thousands of them would fill the memory.
      last = undefined;
    }
  };
  // Without rights to watch it, no start succeeds. A cell that runs goes on.
  const stop = watch.follow(name, onState, (refusal) => running.reject(refusal));
  return { running: running.promise, gone: gone.promise, last: () => last, stop };
}

/** Where the executor ends in time when its node evicts the pod, the status says only that it ended. */
async function explainEnd(
  { client, namespace }: PodWatch,
  pod: Pod | undefined,
  end: string,
): Promise<string> {
  if (pod === undefined || stateOf(pod, cellContainer)?.terminated?.exitCode !== 0) return end;
  const events = await warningsAbout(client, namespace, pod.metadata);
  const evicted = events.find((event) => event.startsWith('Evicted: '));
  return evicted === undefined ? end : `The node evicted the pod: ${evicted.slice('Evicted: '.length)}`;
}

/** What takes a pod away that did not end by itself, by the reason of its condition. */
const disruptions: Readonly<Record<string, string>> = {
  PreemptionByScheduler: 'The scheduler removes the pod for one of a higher priority',
  EvictionByEvictionAPI: 'Somebody evicts the pod, as a drain of its node does',
  DeletionByTaintManager: 'The node of the pod went away or takes no more pods',
  DeletionByPodGC: 'The node of the pod is gone',
};

function disruptionOf(pod: Pod | undefined): string | undefined {
  const { reason = '', message = 'it gave no reason' } =
    pod?.status?.conditions?.find(({ type, status }) => type === 'DisruptionTarget' && status === 'True') ??
    {};
  const what = disruptions[reason];
  return what === undefined ? undefined : `${what} (${reason}): ${message}`;
}

/** It runs no more, and never will again. */
export function hasEnded(pod: Pod): boolean {
  const { phase, containerStatuses = [] } = pod.status ?? {};
  if (phase === 'Failed' || phase === 'Succeeded') return true;
  if (stateOf(pod, cellContainer)?.terminated === undefined) return false;
  // Containers of a template keep the pod running. Without one, the end of the pod follows, and says why.
  return containerStatuses.some(
    ({ name, state }) => name !== cellContainer && state?.terminated === undefined,
  );
}

/** Why a pod ended, as a sentence; undefined while it has not. */
export function endOf(pod: Pod | undefined): string | undefined {
  if (pod === undefined) return 'Somebody deleted the pod.';
  const { reason, message = 'it gave no reason' } = pod.status ?? {};
  const disruption = disruptionOf(pod);
  if (!hasEnded(pod))
    return pod.metadata.deletionTimestamp === undefined
      ? undefined
      : (disruption ?? 'Somebody deletes the pod.');
  const ended = stateOf(pod, cellContainer)?.terminated;
  if (ended?.reason === 'OOMKilled' || reason === 'OOMKilled')
    return 'The pod ran out of memory and was killed. Raise limits.memoryBytes.';
  if (disruption !== undefined) return disruption;
  if (reason === 'Evicted') return `The node evicted the pod: ${message}`;
  if (reason === 'NodeLost' || reason === 'Shutdown' || reason === 'Terminated')
    return `The node of the pod went away (${reason}): ${message}`;
  const first = stateOf(pod, executorContainer)?.terminated;
  if (first !== undefined && first.exitCode !== 0)
    return `The pod failed: its executor could not be brought (${first.reason ?? 'no reason'}). ${first.message ?? ''}`;
  if (ended === undefined) return `The pod failed (${reason ?? 'no reason'}): ${message}`;
  const code = ended.exitCode ?? 0;
  const how = code === 137 ? 'it was killed' : `its executor exited with code ${code}`;
  return `The pod ended: ${how} (${ended.reason ?? 'no reason'}). ${ended.message?.trim() ?? ''}`.trim();
}

/** A problem that keeps a container from starting and does not go away by itself. */
function obstacleIn(
  pod: Pod,
  images: { readonly image: string; readonly executorImage: string },
): WorkcellError | undefined {
  const of = (container: string, image: string) => waitingFor(stateOf(pod, container), image, container);
  const first = images.executorImage === 'none' ? images.image : images.executorImage;
  return of(executorContainer, first) ?? of(cellContainer, images.image);
}

function waitingFor(
  state: ContainerState | undefined,
  image: string,
  container: string,
): WorkcellError | undefined {
  const { reason = '', message = '' } = state?.waiting ?? {};
  const details = { container, image, reason };
  const advice = container === executorContainer ? ' The option executorImage names it.' : '';
  if (
    /^(ErrImagePull|ImagePullBackOff|ErrImageNeverPull|ImageInspectError|RegistryUnavailable)$/.test(reason)
  )
    return new WorkcellError(
      'image-missing',
      `The cluster has no image "${image}", and its node cannot fetch it (${reason}): ${message}. Push it to a registry that the nodes reach, and name a secret for it in imagePullSecrets where it asks for one.${advice}`,
      { details },
    );
  if (reason === 'InvalidImageName')
    return new WorkcellError(
      'invalid-config',
      `"${image}" is not the name of an image: ${message}. Write one such as debian:bookworm.`,
      { details },
    );
  if (reason === 'CreateContainerConfigError')
    return new WorkcellError(
      'invalid-config',
      `The node cannot set up the container "${container}": ${message}. Check the secrets and config maps that it names.`,
      { details },
    );
  if (/^(CreateContainerError|RunContainerError|StartError)$/.test(reason))
    return new WorkcellError(
      'image-unsuitable',
      `The container "${container}" of the image "${image}" does not start (${reason}): ${message}`,
      { details },
    );
  return undefined;
}
