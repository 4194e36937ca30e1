/** Objects that belong to a pod and that the cluster removes with it: its volume, and ways to its ports. */
import { WorkcellError } from '../../protocol/index.js';
import { idLabel } from '../docker/labels.js';
import { type ClusterClient, ClusterRefusal, unless } from './cluster-client.js';
import type { KubernetesOptions } from './kubernetes-options.js';
import type { Metadata, Pod } from './objects.js';
import { podName } from './pod.js';
import { readLines } from './read-lines.js';

type Manifest = Readonly<Record<string, unknown>>;

/** The claim that is the workspace of a cell, where it has one. */
export function claimOf(
  id: string,
  start: string,
  { volume }: Pick<KubernetesOptions, 'volume'>,
): string | undefined {
  if (volume === undefined) return undefined;
  // The cluster removes one that is not kept some time after its pod, when another cell may have the id.
  return volume.claim ?? (volume.keep ? podName(id) : `${podName(id)}-${start}`);
}

interface Owner {
  readonly id: string;
  readonly pod: Pod;
  readonly claim: string | undefined;
  readonly options: KubernetesOptions;
  readonly signal?: AbortSignal | undefined;
}

/** Creates all of them with the pod as their owner: the cluster removes them with it. */
export async function makeOwned(client: ClusterClient, namespace: string, owner: Owner): Promise<void> {
  const { id, pod, claim, options } = owner;
  const { name, uid } = pod.metadata;
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: false }];
  const labels = { [idLabel]: id };
  const of = (kept: boolean) => ({ labels, ...(!kept && { ownerReferences }) });
  const core = `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
  const { volume, ports, ingress } = options;
  if (volume !== undefined && claim !== undefined) {
    const kept = volume.keep || volume.claim !== undefined;
    await make(client, `${core}/persistentvolumeclaims`, describeClaim(volume, { name: claim, ...of(kept) }));
  }
  if (ports.length === 0) return;
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, ...of(false) },
    spec: { selector: labels, ports: ports.map((port) => ({ name: `port-${port}`, port })) },
  };
  await makeAfter(client, `${core}/services`, service, owner);
  if (ingress === undefined) return;
  const ingresses = `/apis/networking.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/ingresses`;
  const described = describeIngress(ingress, ports, { id, name, metadata: of(false) });
  await makeAfter(client, ingresses, described, owner);
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

/** Uses an existing one as it is. Says whether there was one. */
async function make(
  client: ClusterClient,
  path: string,
  body: Manifest,
  signal?: AbortSignal,
): Promise<boolean> {
  try {
    await client.create(path, body, { signal });
    return false;
  } catch (error) {
    if (error instanceof ClusterRefusal && error.reason === 'AlreadyExists') return true;
    throw error;
  }
}

/** Where an earlier pod with the same name has one, the cluster is about to remove that: makes it afterwards. */
async function makeAfter(
  client: ClusterClient,
  path: string,
  body: Manifest,
  { pod, options, signal }: Owner,
): Promise<void> {
  const { name, uid } = pod.metadata;
  const limit = AbortSignal.timeout(options.startTimeoutMs);
  const either = AbortSignal.any([limit, ...(signal === undefined ? [] : [signal])]);
  try {
    while (await make(client, path, body, either)) {
      const found = await unless(404, client.ask<Owned>('GET', `${path}/${name}`, { signal: either }));
      if (found !== undefined && !isOf(found, name, uid)) return;
      if (found !== undefined) await awaitRemoval(client, path, found, either);
    }
  } catch (error) {
    if (signal?.aborted) throw new WorkcellError('cancelled', 'The start of the cell was cancelled.');
    if (!limit.aborted) throw error;
    throw new WorkcellError(
      'backend-unavailable',
      `The cluster has not removed ${path}/${name} of an earlier cell within ${options.startTimeoutMs / 1000} s. Look what holds it (kubectl describe), or choose another id.`,
      { details: { path, name }, cause: error },
    );
  }
}

interface Owned {
  readonly metadata: Metadata;
}

/** It belongs to another pod of the name, and so to one that is gone. */
function isOf({ metadata: { ownerReferences = [] } }: Owned, name: string, uid: string | undefined): boolean {
  return ownerReferences.some((owner) => owner.kind === 'Pod' && owner.name === name && owner.uid !== uid);
}

async function awaitRemoval(
  client: ClusterClient,
  path: string,
  { metadata: { name, resourceVersion } }: Owned,
  signal: AbortSignal,
): Promise<void> {
  const query = { watch: true, fieldSelector: `metadata.name=${name}`, resourceVersion };
  // The server may end it before that; then the caller looks again.
  for await (const line of readLines(await client.open('GET', path, { query, signal })))
    if (line.includes('"type":"DELETED"')) return;
}
