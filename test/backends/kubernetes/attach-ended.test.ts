/** An attach to a kept pod that has ended, when the cluster does not let it be removed. */
import { expect, onTestFinished, test } from 'vitest';
import type { KubernetesOptions } from '../../../src/backends/kubernetes/kubernetes-options.js';
import { makePodHome, removePodHome, writePodState } from '../../../src/backends/kubernetes/pod-home.js';
import { podMarks } from '../../../src/backends/kubernetes/pod-labels.js';
import kubernetes from '../../../src/backends/kubernetes.js';
import { refusal } from '../../../src/testing/contract/given.js';
import { emptyCluster, type StubRequest, stubCluster } from './stub-cluster.js';

test('an attach that cannot remove the remains says so, and keeps nobody else away', async () => {
  const id = 'ended';
  const home = makePodHome(id);
  onTestFinished(() => removePodHome(home));
  writePodState(home, { token: 'secret', isolation: { tier: 'container', facts: [] } });
  const marks = podMarks({
    id,
    options: kubernetes.options.parse({ keepAlive: true }) as KubernetesOptions,
    home,
    start: 'one',
  });
  const pod = { metadata: { name: 'ended', uid: 'same', ...marks }, status: { phase: 'Failed' } };
  const cluster = await stubCluster((request: StubRequest, response) => {
    if (request.method === 'DELETE') return 500;
    if (request.query.get('labelSelector')?.startsWith('workcell.id='))
      return { metadata: { resourceVersion: '1' }, items: [pod] };
    return emptyCluster(request, response);
  });
  onTestFinished(() => cluster.close());
  const place = { kubeconfig: cluster.kubeconfig, namespace: 'agents' };
  const attach = () =>
    refusal(
      kubernetes.attach?.(id, place, { id, onStatus() {} }) ?? Promise.resolve(),
      'backend-unavailable',
    );
  expect((await attach()).message).toContain('The cluster refused');
  expect((await attach()).message).toContain('The cluster refused');
});
