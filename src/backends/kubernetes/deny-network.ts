/** One policy for all cells of a namespace that have no network. Whether the cluster enforces it is another question. */
import { type ClusterClient, ClusterRefusal } from './cluster-client.js';
import { networkLabel } from './pod-labels.js';

const policyName = 'workcell-network-none';

const made = new WeakMap<ClusterClient, Map<string, Promise<void>>>();

/** Makes it where it is missing, once for each namespace. */
export function denyNetwork(client: ClusterClient, namespace: string): Promise<void> {
  const known = made.get(client) ?? new Map<string, Promise<void>>();
  made.set(client, known);
  const before = known.get(namespace);
  if (before !== undefined) return before;
  const making = makePolicy(client, namespace);
  known.set(namespace, making);
  making.catch(() => known.delete(namespace));
  return making;
}

async function makePolicy(client: ClusterClient, namespace: string): Promise<void> {
  const path = `/apis/networking.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/networkpolicies`;
  try {
    await client.ask('POST', path, {
      body: {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name: policyName },
        spec: {
          podSelector: { matchLabels: { [networkLabel]: 'none' } },
          // No rule of either kind: nothing comes in and nothing goes out. A forwarded port comes from the node.
          policyTypes: ['Ingress', 'Egress'],
        },
      },
    });
  } catch (error) {
    if (!(error instanceof ClusterRefusal && error.status === 409)) throw error;
  }
}
