/** Pods that wait in the cluster for whoever starts a cell of their shape next. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { executorBundle } from '../../../src/backends/images/bundle/executor-bundle.js';
import { reapPods } from '../../../src/backends/kubernetes/attach-pod.js';
import { attachToContainer } from '../../../src/backends/kubernetes/channels.js';
import { kubernetesOptions } from '../../../src/backends/kubernetes/kubernetes-options.js';
import type { List, Pod } from '../../../src/backends/kubernetes/objects.js';
import { addWaiting, findWaiting, isReady, shapeOf } from '../../../src/backends/kubernetes/waiting-pods.js';
import kubernetes from '../../../src/backends/kubernetes.js';
import { createRuntime } from '../../../src/index.js';
import { eventually, refusal } from '../../../src/testing/contract/given.js';
import { clusterImages, kubernetesCluster } from '../../engines/kubernetes.js';
import { adminOf, makeNamespace } from './namespaces.js';

const { kubeconfig } = await kubernetesCluster();
const admin = adminOf(kubeconfig);
const namespace = await makeNamespace(admin, { 'pod-security.kubernetes.io/enforce': 'restricted' });
const cell = {
  backend: 'kubernetes',
  config: false,
  kubeconfig,
  namespace,
  image: clusterImages.tools,
  executorImage: 'none',
  imagePullPolicy: 'Never',
  pool: { size: 2, shared: true },
} as const;

test('a start takes one of the pods that wait, with settings of its own, and another one comes in its place', async () => {
  // The first finds none, and has them made.
  await (await createRuntime(cell)).close();
  const ready = () => eventuallyReady(2);
  const before = uidsOf(await ready());
  const [first, second] = await Promise.all(
    ['one', 'two'].map((name) => createRuntime({ ...cell, env: { NAME: name }, labels: { name } })),
  );
  expect((await first?.run('echo $NAME'))?.output).toBe('one\n');
  expect((await second?.run('echo $NAME'))?.output).toBe('two\n');
  const taken = await podsBy('workcell.id');
  expect(uidsOf(taken)).toEqual(before);
  expect(taken.map(({ metadata }) => metadata.labels?.name).sort()).toEqual(['one', 'two']);
  expect(uidsOf(await ready())).not.toContain(before[0]);
  await Promise.all([first?.close(), second?.close()]);
  expect(await podsBy('workcell.id')).toEqual([]);
});

test('a kept cell may have waited, too', async () => {
  const before = uidsOf(await eventuallyReady(2));
  const id = randomBytes(8).toString('hex');
  const { backend: _backend, config: _config, ...options } = cell;
  const context = { id, onStatus() {} };
  const kept = await kubernetes.start({ ...options, keepAlive: true }, context);
  await kept.detach?.();
  const place = { kubeconfig, namespace };
  expect(await kubernetes.list?.(place)).toMatchObject([{ id, status: 'running' }]);
  expect(before).toContain(uidsOf(await podsBy('workcell.id'))[0]);
  const found = await kubernetes.attach?.(id, place, context);
  await found?.stop();
  expect(await podsBy('workcell.id')).toEqual([]);
});

test('a pod of another shape is left alone', async () => {
  const before = uidsOf(await eventuallyReady(2));
  await using runtime = await createRuntime({
    ...cell,
    writableSystem: true,
    pool: { size: 1, shared: true },
  });
  expect((await runtime.run('echo works')).output).toBe('works\n');
  expect(uidsOf(await podsBy('workcell.pool'))).toEqual(expect.arrayContaining(before));
});

test('one that ended without a cell is removed', async () => {
  // Where this process has started nothing yet: it looks now and then.
  const namespace = await makeNamespace(admin);
  const options = z
    .object(kubernetesOptions)
    .parse({ image: cell.image, executorImage: 'none', imagePullPolicy: 'Never' });
  const shape = shapeOf({ options, bundle: await executorBundle() });
  await addWaiting(admin, namespace, shape, 1);
  await eventually(async () => (await findWaiting(admin, namespace, shape)).some(isReady));
  const [pod] = await findWaiting(admin, namespace, shape);
  const where = { namespace, name: pod?.metadata.name ?? '' };
  const input = await attachToContainer(admin, { ...where, container: 'cell' }, { out() {}, log() {} });
  // These are no settings.
  input.write('{}\n');
  await eventually(async () => (await findWaiting(admin, namespace, shape)).length === 0);
  input.close();
  await reapPods(admin, namespace);
  const { items } = await admin.ask<List<Pod>>('GET', `/api/v1/namespaces/${namespace}/pods`);
  expect(items).toEqual([]);
});

test.each([
  ['an existing volume', { volume: { claim: 'mine' } }],
  ['a kept volume', { volume: { keep: true } }],
])('a shared pool and %s are refused together', async (_what, options) => {
  await refusal(createRuntime({ ...cell, ...options }), 'invalid-config');
});

async function podsBy(labelSelector: string): Promise<readonly Pod[]> {
  const query = { labelSelector };
  return (await admin.ask<List<Pod>>('GET', `/api/v1/namespaces/${namespace}/pods`, { query })).items;
}

function uidsOf(pods: readonly Pod[]): string[] {
  return pods.map(({ metadata }) => metadata.uid ?? '').sort();
}

/** Those that wait, once there are so many and all of them run. */
async function eventuallyReady(count: number): Promise<readonly Pod[]> {
  let pods: readonly Pod[] = [];
  await eventually(async () => {
    pods = await podsBy('workcell.pool');
    return pods.length === count && pods.every(isReady);
  }, `${count} pods wait`);
  return pods;
}
