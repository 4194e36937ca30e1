/** What the code does about pools that a healthy cluster does not show. */
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { openCluster } from '../../../src/backends/kubernetes/cluster-client.js';
import { kubernetesOptions } from '../../../src/backends/kubernetes/kubernetes-options.js';
import { refillPool, shapeOf } from '../../../src/backends/kubernetes/waiting-pods.js';
import { type StubCluster, stubCluster } from './stub-cluster.js';

const options = z.object(kubernetesOptions).parse({ image: 'any', executorImage: 'none' });
const shape = shapeOf({ options, bundle: { command: () => ['node', 'executor'], hash: 'h' } });
const running = { phase: 'Running', containerStatuses: [{ name: 'cell', state: { running: {} } }] };
const now = new Date().toISOString();
const long = '2020-01-01T00:00:00Z';

let cluster: StubCluster;
afterEach(() => cluster.close());

/** A namespace in which pods come and go. */
async function namespaceWith(items: object[]) {
  const pods: object[] = [...items];
  cluster = await stubCluster(({ method, body }) => {
    if (method === 'GET') return { metadata: { resourceVersion: '1' }, items: pods };
    if (method !== 'POST') return {};
    const pod = { metadata: { name: `new-${pods.length}`, uid: `u-${pods.length}`, creationTimestamp: now } };
    pods.push(pod);
    return body === undefined ? 400 : pod;
  });
  return openCluster({ kubeconfig: cluster.kubeconfig });
}

const countOf = (method: string) => cluster.requests.filter((request) => request.method === method).length;

test('starts at once fill the pool once', async () => {
  const client = await namespaceWith([]);
  await Promise.all(Array.from({ length: 10 }, () => refillPool(client, 'default', shape, 2)));
  expect(countOf('POST')).toBe(2);
});

test('pods that ended or never started make room, and those that start or wait count', async () => {
  const pod = (name: string, creationTimestamp: string, status: object) => ({
    metadata: { name, uid: name, creationTimestamp },
    status,
  });
  const client = await namespaceWith([
    pod('ended', long, { phase: 'Succeeded' }),
    pod('stuck', long, { phase: 'Pending' }),
    pod('starting', now, { phase: 'Pending' }),
    pod('waiting', long, running),
  ]);
  await refillPool(client, 'default', shape, 3);
  const removed = cluster.requests.filter(({ method }) => method === 'DELETE').map(({ path }) => path);
  expect(removed.map((path) => path.split('/').at(-1)).sort()).toEqual(['ended', 'stuck']);
  expect(countOf('POST')).toBe(1);
});
