/** Objects that belong to a pod and that the cluster removes with it: its volume, and ways to its ports. */

import { idLabel } from '../docker/labels.js';
import { type ClusterClient, ClusterRefusal } from './cluster-client.js';
import type { KubernetesOptions } from './kubernetes-options.js';
import type { Pod } from './objects.js';
import { podName } from './pod.js';

type Manifest = Readonly<Record<string, unknown>>;

/** The claim that is the workspace of a cell, where it has one. */
export function claimOf(id: string, { volume }: Pick<KubernetesOptions, 'volume'>): string | undefined {
  return volume === undefined ? undefined : (volume.claim ?? podName(id));
}

/** Creates all of them with the pod as their owner: the cluster removes them with it. */
export async function makeOwned(
  client: ClusterClient,
  namespace: string,
  { id, options, pod }: { readonly id: string; readonly options: KubernetesOptions; readonly pod: Pod },
): Promise<void> {
  const { name, uid } = pod.metadata;
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: false }];
  const labels = { [idLabel]: id };
  const of = (kept: boolean) => ({ labels, ...(!kept && { ownerReferences }) });
  const core = `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
  const { volume, ports, ingress } = options;
  if (volume !== undefined) {
    const claim = claimOf(id, options) ?? name;
    const kept = volume.keep || volume.claim !== undefined;
    await make(client, `${core}/persistentvolumeclaims`, describeClaim(volume, { name: claim, ...of(kept) }));
  }
  if (ports.length === 0) return;
  await make(client, `${core}/services`, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, ...of(false) },
    spec: { selector: labels, ports: ports.map((port) => ({ name: `port-${port}`, port })) },
  });
  if (ingress !== undefined)
    await make(
      client,
      `/apis/networking.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/ingresses`,
      describeIngress(ingress, ports, { id, name, metadata: of(false) }),
    );
}

function describeClaim(volume: NonNullable<KubernetesOptions['volume']>, metadata: Manifest): Manifest {
  const { size, storageClass, accessMode } = volume;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata,
    spec: {
      accessModes: [accessMode],
      resources: { requests: { storage: size } },
      ...(storageClass !== undefined && { storageClassName: storageClass }),
    },
  };
}

function describeIngress(
  { domain, className, tlsSecret, annotations }: NonNullable<KubernetesOptions['ingress']>,
  ports: readonly number[],
  { id, name, metadata }: { readonly id: string; readonly name: string; readonly metadata: Manifest },
): Manifest {
  const hostOf = (port: number) => `${id}-${port}.${domain}`;
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { ...metadata, name, annotations },
    spec: {
      ...(className !== undefined && { ingressClassName: className }),
      ...(tlsSecret !== undefined && { tls: [{ hosts: ports.map(hostOf), secretName: tlsSecret }] }),
      rules: ports.map((port) => ({
        host: hostOf(port),
        http: {
          paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name, port: { number: port } } } }],
        },
      })),
    },
  };
}

/** Uses an existing one as it is. */
async function make(client: ClusterClient, path: string, body: Manifest): Promise<void> {
  try {
    await client.create(path, body);
  } catch (error) {
    if (!(error instanceof ClusterRefusal && error.status === 409 && error.reason === 'AlreadyExists'))
      throw error;
  }
}
