/**
 * One policy for all cells of a namespace that have no network, and what is known about its effect. Only some clusters
 * enforce policies, so its annotation says what the last look at it showed.
 */
import { isDeepStrictEqual } from 'node:util';
import { WorkcellError } from '../../protocol/index.js';
import { type ClusterClient, unless } from './cluster-client.js';
import type { List, Metadata } from './objects.js';
import { networkLabel } from './pod-labels.js';
import { type PodSelector, selects } from './select-pods.js';

const policyName = 'workcell-network-none';
const effectAnnotation = 'workcell.effect';

const spec = {
  podSelector: { matchLabels: { [networkLabel]: 'none' } },
  // No rule of either kind: nothing comes in and nothing goes out. A forwarded port comes from the node.
  policyTypes: ['Ingress', 'Egress'],
};

interface Policy {
  readonly metadata: Metadata;
  readonly spec?: {
    readonly podSelector?: PodSelector;
    readonly ingress?: readonly unknown[];
    readonly egress?: readonly unknown[];
  };
}

/** What became of a connection that the policy must refuse. Nobody knows when the same fails without the policy. */
const effects = ['enforced', 'not enforced', 'not known'] as const;
export type Effect = (typeof effects)[number];

/** A cluster may change, so what is known counts for a day. */
const knownMs = 86_400_000;

export interface NetworkDenial {
  /** Of the policy, as far as somebody looked. */
  readonly effect: Effect | undefined;
  /** Another policy may allow a pod with these labels what ours denies. */
  allows(labels: Readonly<Record<string, string>>): boolean;
}

/** Makes the policy where it is missing. Throws `invalid-config` for one of its name that denies less. */
export async function denyNetwork(client: ClusterClient, namespace: string): Promise<NetworkDenial> {
  const path = policiesPath(namespace);
  const list = async () => (await client.ask<List<Policy>>('GET', path)).items;
  // Somebody may have removed it since the last start, so each one looks.
  let policies = await list();
  if (policies.every((each) => !isOurs(each))) {
    const body = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: policyName },
      spec,
    };
    const made = await unless(409, client.create<Policy>(path, body));
    policies = made === undefined ? await list() : [...policies, made];
  }
  const ours = policies.find(isOurs);
  if (ours !== undefined && isDeepStrictEqual(ours.spec, spec)) return denial(ours, policies);
  throw new WorkcellError(
    'invalid-config',
    `The network policy "${policyName}" of the namespace "${namespace}" is not the one that denies cells the network. Remove it (kubectl delete networkpolicy --namespace ${namespace} ${policyName}): the next start makes it again.`,
    { details: { namespace, policy: policyName } },
  );
}

/** What is known without a start. */
export async function knownEffect(
  client: ClusterClient,
  namespace: string,
  signal: AbortSignal,
): Promise<Effect | undefined> {
  const policy = await client.ask<Policy>('GET', `${policiesPath(namespace)}/${policyName}`, { signal });
  return effectOf(policy);
}

/** Notes it for all who start cells there. One who may not simply looks again. */
export async function noteEffect(client: ClusterClient, namespace: string, effect: Effect): Promise<void> {
  const annotations = { [effectAnnotation]: `${effect} ${new Date().toISOString()}` };
  const body = { metadata: { annotations } };
  await client.ask('PATCH', `${policiesPath(namespace)}/${policyName}`, { body }).catch(() => {});
}

function denial(ours: Policy, policies: readonly Policy[]): NetworkDenial {
  const others = policies.filter((policy) => !isOurs(policy) && hasRules(policy));
  return {
    effect: effectOf(ours),
    // Whatever one policy allows a pod is allowed.
    allows: (labels) => others.some((policy) => selects(policy.spec?.podSelector, labels)),
  };
}

function isOurs({ metadata }: Policy): boolean {
  return metadata.name === policyName;
}

function hasRules({ spec: { ingress = [], egress = [] } = {} }: Policy): boolean {
  return ingress.length + egress.length > 0;
}

function effectOf({ metadata }: Policy): Effect | undefined {
  const [, effect, time = ''] = /^(.+) (\S+)$/.exec(metadata.annotations?.[effectAnnotation] ?? '') ?? [];
  const age = Date.now() - Date.parse(time);
  return age < knownMs ? effects.find((known) => known === effect) : undefined;
}

function policiesPath(namespace: string): string {
  return `/apis/networking.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/networkpolicies`;
}
