/** A start that cannot tell whether it took a waiting pod: what it removes, and what it leaves alone. */
import { afterEach, expect, test } from 'vitest';
import kubernetes from '../../../src/backends/kubernetes.js';
import { refusal } from '../../../src/testing/contract/given.js';
import { emptyCluster, type StubCluster, type StubRequest, stubCluster } from './stub-cluster.js';

let cluster: StubCluster;
afterEach(() => cluster.close());

const path = '/api/v1/namespaces/agents/pods/waits';

/** The patch that takes the pod fails; `annotations` makes those that the pod has afterwards of those in the patch. */
async function claimFails(annotations: (sent: object) => object): Promise<unknown[]> {
  let pod: object = {
    metadata: { name: 'waits', uid: 'same', labels: {}, annotations: {} },
    status: { phase: 'Running', containerStatuses: [{ name: 'cell', state: { running: {} } }] },
  };
  cluster = await stubCluster((request: StubRequest, response) => {
    const { method, query } = request;
    if (method === 'PATCH') {
      const sent = (request.body as unknown as { path: string; value: object }[]).find(
        (step) => step.path === '/metadata/annotations',
      );
      pod = { ...pod, metadata: { name: 'waits', uid: 'same', annotations: annotations(sent?.value ?? {}) } };
      return 500;
    }
    if (method === 'GET' && request.path === path) return pod;
    if (method === 'GET' && query.get('labelSelector')?.startsWith('workcell.pool=') && !query.has('watch'))
      return { metadata: { resourceVersion: '1' }, items: [pod] };
    return emptyCluster(request, response);
  });
  const options = {
    kubeconfig: cluster.kubeconfig,
    namespace: 'agents',
    network: 'open',
    pool: { size: 1, shared: true },
  };
  await refusal(kubernetes.start(options as never, { id: 'one', onStatus() {} }), 'backend-unavailable');
  return cluster.requests
    .filter(({ method }) => method === 'DELETE')
    .map((request) => [request.path, request.body?.preconditions]);
}

test('the pod stays when somebody else took it', async () => {
  expect(await claimFails(() => ({ 'workcell.start': 'of somebody else' }))).toEqual([]);
});

test('the pod stays when it still waits', async () => {
  expect(await claimFails(() => ({}))).toEqual([]);
});

test('the pod goes when the patch took it all the same', async () => {
  expect(await claimFails((sent) => sent)).toEqual([[path, { uid: 'same' }]]);
});
