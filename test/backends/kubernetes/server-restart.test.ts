/** A cluster of its own, whose API server is killed while a cell works. */
import { afterAll, expect, test } from 'vitest';
import { startKubernetesCluster } from '../../../scripts/engines/kubernetes.js';
import type { List, Pod } from '../../../src/backends/kubernetes/objects.js';
import { createRuntime } from '../../../src/index.js';
import { begin, eventually, refusal } from '../../../src/testing/contract/given.js';
import { clusterImages } from '../../engines/kubernetes.js';
import { adminOf, makeNamespace } from './namespaces.js';

const cluster = await startKubernetesCluster();
afterAll(() => cluster.stop());

test('what a cell does goes on while the API server is away, and its end is noticed when it is back', async () => {
  const { kubeconfig } = cluster;
  const admin = adminOf(kubeconfig);
  const namespace = await makeNamespace(admin);
  await using runtime = await createRuntime({
    backend: 'kubernetes',
    config: false,
    kubeconfig,
    namespace,
    image: clusterImages.bare,
    imagePullPolicy: 'Never',
  });
  await begin(runtime, 'mkfifo go; echo begun; cat go; echo done', /begun/);
  await cluster.kill();
  await cluster.restart();
  await eventually(
    async () => (await runtime.run('true', { session: 'other' }).catch(() => undefined)) !== undefined,
  );
  await runtime.run('echo on > go', { session: 'other' });
  await begin(runtime, '', /on\s+done/);
  const refused = refusal(runtime.run('sleep 1000'), 'runtime-disconnected');
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const { items } = await admin.ask<List<Pod>>('GET', pods);
  await admin.ask('DELETE', `${pods}/${items[0]?.metadata.name}`, { query: { gracePeriodSeconds: 0 } });
  expect((await refused).message).toMatch(/delete|ended/);
});
