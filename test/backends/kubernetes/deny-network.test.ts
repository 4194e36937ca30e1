/** The policy for cells without a network, on namespaces where somebody else was at work. */
import { afterEach, expect, test, vi } from 'vitest';
import { openCluster } from '../../../src/backends/kubernetes/cluster-client.js';
import {
  denyNetwork,
  type Effect,
  knownEffect,
  noteEffect,
} from '../../../src/backends/kubernetes/deny-network.js';
import { refusal } from '../../../src/testing/contract/given.js';
import { type StubCluster, stubCluster } from './stub-cluster.js';

let cluster: StubCluster;
afterEach(() => {
  vi.useRealTimers();
  cluster.close();
});

type Policy = {
  readonly metadata?: { readonly name?: string; readonly annotations?: Record<string, string> };
  readonly spec?: object;
};

const name = 'workcell-network-none';
const named = (policy: Policy): Policy => ({ ...policy, metadata: { name, ...policy.metadata } });

/** A namespace that holds what `create` makes of the policy that it is sent, and others. */
async function namespaceWith(
  first: Policy | undefined,
  create = (sent: Policy): Policy | number => sent,
  others: readonly Policy[] = [],
) {
  let policy = first;
  cluster = await stubCluster(({ method, path, body }) => {
    if (method === 'GET') {
      const items = [...(policy === undefined ? [] : [named(policy)]), ...others];
      return path.endsWith('/networkpolicies') ? { metadata: {}, items } : (items[0] ?? 404);
    }
    if (method === 'PATCH') {
      policy = { ...policy, metadata: (body as Policy).metadata ?? {} };
      return policy;
    }
    const made = create(body as Policy);
    policy = typeof made === 'number' ? (body as Policy) : made;
    return made;
  });
  const client = openCluster({ kubeconfig: cluster.kubeconfig });
  return {
    deny: () => denyNetwork(client, 'agents'),
    note: (effect: Effect) => noteEffect(client, 'agents', effect),
    known: () => knownEffect(client, 'agents', AbortSignal.timeout(10_000)),
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

test('its effect is known for a day once somebody looked', async () => {
  const namespace = await namespaceWith(undefined);
  expect((await namespace.deny()).effect).toBeUndefined();
  await namespace.note('enforced');
  expect([(await namespace.deny()).effect, await namespace.known()]).toEqual(['enforced', 'enforced']);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 86_400_000 });
  expect((await namespace.deny()).effect).toBeUndefined();
});

test.each([
  [{ podSelector: {}, egress: [{}] }, true],
  [{ podSelector: { matchLabels: { team: 'blue' } }, ingress: [{}] }, true],
  [
    { podSelector: { matchExpressions: [{ key: 'team', operator: 'In', values: ['blue'] }] }, egress: [{}] },
    true,
  ],
  [{ podSelector: { matchExpressions: [{ key: 'other', operator: 'Exists' }] }, egress: [{}] }, false],
  [
    {
      podSelector: { matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['blue'] }] },
      egress: [{}],
    },
    false,
  ],
  [{ podSelector: { matchExpressions: [{ key: 'other', operator: 'DoesNotExist' }] }, egress: [{}] }, true],
  [{ podSelector: { matchExpressions: [{ key: 'team', operator: 'Fancy' }] }, egress: [{}] }, true],
  [{ podSelector: { matchLabels: { team: 'red' } }, egress: [{}] }, false],
  [{ podSelector: {} }, false],
])('another policy %j may allow a pod of the team blue something: %s', async (spec, allows) => {
  const other = { metadata: { name: 'other' }, spec };
  const namespace = await namespaceWith(undefined, (sent) => named(sent), [other]);
  expect((await namespace.deny()).allows({ team: 'blue' })).toBe(allows);
});
