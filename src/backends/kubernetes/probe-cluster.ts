/** What a cluster would give a cell: for `workcell doctor`. Nothing is made there. */
import { setMaxListeners } from 'node:events';
import type { Probe } from '../backend.js';
import { bundleObstacle } from '../images/bundle/bundle-obstacle.js';
import { type ClusterClient, openCluster } from './cluster-client.js';
import { knownEffect } from './deny-network.js';
import type { ClusterPlace } from './kubeconfig.js';
import type { List, Metadata } from './objects.js';

const answerMs = 5000;

const networkPolicies = {
  enforced: 'Network policies: enforced.',
  'not enforced': 'Network policies: not enforced, so cells with network "none" have that of the cluster.',
  'not known': 'Network policies: not known whether they are enforced; cells with network "none" try it.',
} as const;

/** What a cell cannot do without. */
const neededRights = [
  { resource: 'pods', verb: 'create' },
  { resource: 'pods', verb: 'watch' },
  { resource: 'pods', verb: 'delete' },
  { resource: 'pods', subresource: 'attach', verb: 'create' },
  { resource: 'pods', subresource: 'portforward', verb: 'create' },
  { group: 'networking.k8s.io', resource: 'networkpolicies', verb: 'list' },
  { group: 'networking.k8s.io', resource: 'networkpolicies', verb: 'create' },
] as const;

export async function probeCluster(
  place: ClusterPlace & { readonly namespace?: string | undefined },
): Promise<Probe> {
  const obstacle = bundleObstacle();
  if (obstacle !== undefined) return obstacle;
  try {
    const client = openCluster(place);
    const namespace = place.namespace ?? client.namespace;
    const signal = AbortSignal.timeout(answerMs);
    // Many requests share it.
    setMaxListeners(0, signal);
    const { gitVersion } = await client.ask<{ gitVersion: string }>('GET', '/version', { signal });
    const [missing, level, classes, sandboxes, effect] = await Promise.all([
      missingRights(client, namespace, signal),
      podSecurity(client, namespace, signal),
      runtimeClasses(client, signal),
      hasSandboxes(client, signal),
      knownEffect(client, namespace, signal).catch(() => undefined),
    ]);
    const facts = [
      `Kubernetes ${gitVersion} at ${client.where}, namespace ${namespace}: pods with namespaces, a seccomp filter and limits of their own.`,
      `Pod Security level: ${level}.`,
      `Runtime classes: ${classes}.`,
      `Agent-sandbox resources: ${sandboxes ? 'installed, not used' : 'none'}.`,
      networkPolicies[effect ?? 'not known'],
    ];
    const summary = facts.join(' ');
    if (missing.length === 0) return { available: true, tier: 'container', summary, advice: [] };
    return {
      available: false,
      tier: 'none',
      summary: `${summary} You may not: ${missing.join(', ')}.`,
      advice: [
        `kubectl apply --namespace ${namespace} -f deploy/kubernetes/rbac.yaml, and bind its role to yourself`,
      ],
    };
  } catch (error) {
    return { available: false, tier: 'none', summary: (error as Error).message, advice: [] };
  }
}

async function missingRights(
  client: ClusterClient,
  namespace: string,
  signal: AbortSignal,
): Promise<string[]> {
  const answers = await Promise.all(
    neededRights.map(async (right) => {
      const { status } = await client.ask<{ status: { allowed: boolean } }>(
        'POST',
        '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        { body: { spec: { resourceAttributes: { namespace, ...right } } }, signal },
      );
      const name = 'subresource' in right ? `${right.resource}/${right.subresource}` : right.resource;
      return status.allowed ? [] : [`${right.verb} ${name}`];
    }),
  );
  return answers.flat();
}

/** What we may not look at is not known; a cell works without it. */
async function podSecurity(client: ClusterClient, namespace: string, signal: AbortSignal): Promise<string> {
  try {
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
    const { metadata } = await client.ask<{ metadata: Metadata }>('GET', path, { signal });
    return metadata.labels?.['pod-security.kubernetes.io/enforce'] ?? 'none enforced by a label';
  } catch {
    return 'not known';
  }
}

async function runtimeClasses(client: ClusterClient, signal: AbortSignal): Promise<string> {
  try {
    const list = await client.ask<List<{ metadata: Metadata }>>(
      'GET',
      '/apis/node.k8s.io/v1/runtimeclasses',
      {
        signal,
      },
    );
    return list.items.map(({ metadata }) => metadata.name).join(', ') || 'none';
  } catch {
    return 'not known';
  }
}

async function hasSandboxes(client: ClusterClient, signal: AbortSignal): Promise<boolean> {
  return client.ask('GET', '/apis/agents.x-k8s.io', { signal }).then(
    () => true,
    () => false,
  );
}
