/** Why a pod did not start, in our words, with what the cluster says. */
import { WorkcellError } from '../../protocol/index.js';
import { type ClusterClient, ClusterRefusal } from './cluster-client.js';
import type { KubernetesOptions } from './kubernetes-options.js';
import type { List, Metadata, Pod } from './objects.js';

interface Asked {
  readonly client: ClusterClient;
  readonly namespace: string;
  readonly options: Pick<KubernetesOptions, 'runtimeClass'>;
}

/** A refusal of the API server as an error of ours; all else as it is. */
export function explainRefusal(error: unknown, asked: Asked): unknown {
  if (!(error instanceof ClusterRefusal)) return error;
  const { status, reason, message } = error;
  const found = causes.find(({ matches }) => matches(error));
  const advice = found?.advise(asked) ?? 'Check the options.';
  return new WorkcellError(
    found?.code ?? (status >= 500 || status === 429 ? 'backend-unavailable' : 'invalid-config'),
    `The cluster refused: ${message.replace(/\.$/, '')}. ${advice}`,
    { details: { status, reason, namespace: asked.namespace }, cause: error },
  );
}

interface Cause {
  matches(refusal: ClusterRefusal): boolean;
  readonly code:
    | 'unauthorized'
    | 'permission-denied'
    | 'backend-unavailable'
    | 'invalid-config'
    | 'not-found'
    | 'already-exists';
  advise(asked: Asked): string;
}

const causes: readonly Cause[] = [
  {
    matches: ({ status }) => status === 401,
    code: 'unauthorized',
    advise: () => 'Log in to the cluster again, or check the user of the kubeconfig.',
  },
  {
    matches: ({ message }) => /exceeded quota/i.test(message),
    code: 'backend-unavailable',
    advise: ({ namespace }) =>
      `End cells that are not needed, or raise the quota of the namespace "${namespace}".`,
  },
  {
    matches: ({ message }) => /violates PodSecurity/i.test(message),
    code: 'invalid-config',
    advise: ({ namespace }) =>
      `The namespace "${namespace}" enforces a Pod Security level that the template, or writable options, do not keep to.`,
  },
  {
    matches: ({ message }) => /RuntimeClass .* not found/i.test(message),
    code: 'invalid-config',
    advise: ({ options }) =>
      `The cluster has no runtime class "${options.runtimeClass ?? ''}"; kubectl get runtimeclasses lists those it has.`,
  },
  {
    matches: ({ message }) => /is being terminated/i.test(message),
    code: 'backend-unavailable',
    advise: () => 'Wait until the namespace is gone and make it again, or name another one.',
  },
  {
    matches: ({ message }) => /error looking up service account|serviceaccount .* not found/i.test(message),
    code: 'not-found',
    advise: () => 'Make the service account, or leave out serviceAccount.',
  },
  {
    matches: ({ message }) => /namespaces? "[^"]*" not found/i.test(message),
    code: 'not-found',
    advise: ({ namespace }) => `Make it (kubectl create namespace ${namespace}), or name another one.`,
  },
  {
    matches: ({ status }) => status === 403,
    code: 'permission-denied',
    advise: () => 'deploy/kubernetes/rbac.yaml has the rights that are needed.',
  },
  {
    matches: ({ reason }) => reason === 'AlreadyExists',
    code: 'already-exists',
    advise: () => 'Choose another id.',
  },
  {
    matches: ({ reason }) => reason === 'Conflict',
    code: 'backend-unavailable',
    advise: () => 'Too many requests changed the same object at once. Try again.',
  },
];

/** Why a pod did not run in time, from its conditions and from the events of the cluster. */
export async function explainSilence(
  { client, namespace }: Asked,
  pod: Pod | undefined,
  limitMs: number,
): Promise<WorkcellError> {
  const events = pod === undefined ? [] : await warningsAbout(client, namespace, pod.metadata);
  const conditions = (pod?.status?.conditions ?? [])
    .filter(({ status, message }) => status !== 'True' && message !== undefined)
    .map(({ type, reason, message }) => `${type} (${reason ?? 'no reason'}): ${message}`);
  const known = [...conditions, ...events];
  return new WorkcellError(
    'backend-unavailable',
    `The pod did not run within ${limitMs / 1000} s. ${known.length === 0 ? 'The cluster does not say why.' : known.join(' ')}`,
    { details: { namespace, pod: pod?.metadata.name ?? null, conditions, events } },
  );
}

interface ClusterEvent {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
}

const mostEvents = 10;

/** The warnings about an object. None where we may not read them. */
export async function warningsAbout(
  client: ClusterClient,
  namespace: string,
  { uid, name }: Pick<Metadata, 'uid' | 'name'>,
): Promise<string[]> {
  try {
    const { items } = await client.ask<List<ClusterEvent>>(
      'GET',
      `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`,
      {
        query: {
          fieldSelector: uid === undefined ? `involvedObject.name=${name}` : `involvedObject.uid=${uid}`,
        },
      },
    );
    return items
      .filter(({ type }) => type === 'Warning')
      .slice(-mostEvents)
      .map(({ reason = '', message = '' }) => `${reason}: ${message.slice(0, 1000)}`);
  } catch {
    return [];
  }
}
