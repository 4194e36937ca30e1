/** The policy for cells without a network, on namespaces where somebody else was at work. */
import { afterEach, expect, test } from 'vitest';
import { openCluster } from '../../../src/backends/kubernetes/cluster-client.js';
import { denyNetwork } from '../../../src/backends/kubernetes/deny-network.js';
import { refusal } from '../../../src/testing/contract/given.js';
import { type StubCluster, stubCluster } from './stub-cluster.js';

let cluster: StubCluster;
afterEach(() => cluster.close());

type Policy = { readonly spec?: object };

/** A namespace that holds what `create` makes of the policy that it is sent. */
async function namespaceWith(first: Policy | undefined, create = (sent: Policy): Policy | number => sent) {
  let policy = first;
  cluster = await stubCluster(({ method, body }) => {
    if (method === 'GET') return policy ?? 404;
    const made = create(body as Policy);
    policy = typeof made === 'number' ? (body as Policy) : made;
    return made;
  });
  const client = openCluster({ kubeconfig: cluster.kubeconfig });
  return {
    deny: () => denyNetwork(client, 'agents'),
    remove: () => {
      policy = undefined;
    },
    made: () => cluster.requests.filter(({ method }) => method === 'POST').length,
  };
}

test('is made once, and again after somebody removed it', async () => {
  const namespace = await namespaceWith(undefined);
  await namespace.deny();
  await namespace.deny();
  expect(namespace.made()).toBe(1);
  namespace.remove();
  await namespace.deny();
  expect(namespace.made()).toBe(2);
});

test('may come from another start at the same time', async () => {
  const namespace = await namespaceWith(undefined, () => 409);
  await namespace.deny();
  expect(namespace.made()).toBe(1);
});

test('of the same name that allows something is refused', async () => {
  const spec = {
    podSelector: { matchLabels: { 'workcell.network': 'none' } },
    policyTypes: ['Ingress', 'Egress'],
  };
  const namespace = await namespaceWith({ spec: { ...spec, egress: [{}] } });
  const error = await refusal(namespace.deny(), 'invalid-config');
  expect(error.message).toContain('kubectl delete networkpolicy --namespace agents workcell-network-none');
});
