/** One policy for all cells of a namespace that have no network. Whether the cluster enforces it is another question. */
import { isDeepStrictEqual } from 'node:util';
import { WorkcellError } from '../../protocol/index.js';
import { type ClusterClient, unless } from './cluster-client.js';
import { networkLabel } from './pod-labels.js';

const policyName = 'workcell-network-none';

const spec = {
  podSelector: { matchLabels: { [networkLabel]: 'none' } },
  // No rule of either kind: nothing comes in and nothing goes out. A forwarded port comes from the node.
  policyTypes: ['Ingress', 'Egress'],
};

/** Makes it where it is missing. Throws `invalid-config` for one of its name that denies less. */
export async function denyNetwork(client: ClusterClient, namespace: string): Promise<void> {
  const path = `/apis/networking.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/networkpolicies`;
  const find = () => client.ask<{ spec?: unknown }>('GET', `${path}/${policyName}`);
  // Somebody may have removed it since the last start, so each one looks.
  const found =
    (await unless(404, find())) ??
    (await unless(
      409,
      client.ask<{ spec?: unknown }>('POST', path, {
        body: {
          apiVersion: 'networking.k8s.io/v1',
          kind: 'NetworkPolicy',
          metadata: { name: policyName },
          spec,
        },
      }),
    )) ??
    (await find());
  if (isDeepStrictEqual(found.spec, spec)) return;
  throw new WorkcellError(
    'invalid-config',
    `The network policy "${policyName}" of the namespace "${namespace}" is not the one that denies cells the network. Remove it (kubectl delete networkpolicy --namespace ${namespace} ${policyName}): the next start makes it again.`,
    { details: { namespace, policy: policyName } },
  );
}
