/** A start removes its own pod when it fails, and no other, whoever has the name. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { makePodHome, removePodHome } from '../../../src/backends/kubernetes/pod-home.js';
import kubernetes from '../../../src/backends/kubernetes.js';
import { refusal } from '../../../src/testing/contract/given.js';
import {
  emptyCluster,
  type StubCluster,
  StubRefusal,
  type StubRequest,
  stubCluster,
} from './stub-cluster.js';

let cluster: StubCluster;
afterEach(() => cluster.close());

const isPods = ({ method, path }: StubRequest) => method === 'POST' && path.endsWith('/pods');
const options = { namespace: 'agents', network: 'open', ports: [80] } as const;

const start = () =>
  kubernetes.start({ ...options, kubeconfig: cluster.kubeconfig } as never, { id: 'taken', onStatus() {} });

const removals = () =>
  cluster.requests
    .filter(({ method }) => method === 'DELETE')
    .map(({ path, body }) => [path, body?.preconditions]);

const path = '/api/v1/namespaces/agents/pods/workcell-taken';

test('a pod that has the id already stays', async () => {
  cluster = await stubCluster((request, response) => {
    if (isPods(request)) return 409;
    if (request.path === path) return { metadata: { name: 'workcell-taken', uid: 'theirs' } };
    return emptyCluster(request, response);
  });
  await refusal(start(), 'already-exists');
  expect(removals()).toEqual([]);
});

const raced = new StubRefusal(409, 'Conflict', 'Operation cannot be fulfilled on resourcequotas "all"');

test('a pod that the cluster wants asked for again, because others charged its quota, is asked for again', async () => {
  let tries = 0;
  cluster = await stubCluster((request, response) => {
    if (isPods(request)) return ++tries < 3 ? raced : { metadata: { name: 'workcell-taken', uid: 'ours' } };
    return request.path.endsWith('/services') ? 500 : emptyCluster(request, response);
  });
  await refusal(start(), 'backend-unavailable');
  expect(tries).toBe(3);
  expect(removals()).toEqual([[path, { uid: 'ours' }]]);
});

test('a quota that is never free is no id that is taken', async () => {
  cluster = await stubCluster((request, response) =>
    isPods(request) ? raced : request.path === path ? 404 : emptyCluster(request, response),
  );
  const error = await refusal(start(), 'backend-unavailable');
  expect(error.message).toContain('resourcequotas "all". Too many requests');
  expect(error.retryable).toBe(true);
});

test('a cell that this machine keeps under the id stays', async () => {
  cluster = await stubCluster(emptyCluster);
  const id = randomBytes(8).toString('hex');
  const home = makePodHome(id);
  try {
    const kept = { ...options, kubeconfig: cluster.kubeconfig, keepAlive: true };
    await refusal(kubernetes.start(kept as never, { id, onStatus() {} }), 'already-exists');
    expect(existsSync(home)).toBe(true);
    expect(cluster.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  } finally {
    await removePodHome(home);
  }
});

test('a pod whose start fails later goes, by what makes it unique', async () => {
  cluster = await stubCluster((request, response) => {
    if (isPods(request)) return { metadata: { name: 'workcell-taken', uid: 'ours' } };
    return request.path.endsWith('/services') ? 500 : emptyCluster(request, response);
  });
  await refusal(start(), 'backend-unavailable');
  expect(removals()).toEqual([[path, { uid: 'ours' }]]);
});

test.each([
  ['goes when it exists after all', true, [[path, { uid: 'found' }]]],
  ['stays when it is that of another start', false, []],
])('a pod whose creation got no answer %s', async (_what, isOurs, removed) => {
  let annotations = {};
  cluster = await stubCluster((request, response) => {
    if (isPods(request)) {
      if (isOurs) annotations = request.body?.metadata?.annotations ?? {};
      response.destroy();
      return undefined;
    }
    if (request.method === 'GET' && request.path === path)
      return { metadata: { name: 'workcell-taken', uid: 'found', annotations } };
    return emptyCluster(request, response);
  });
  await refusal(start(), 'backend-unavailable');
  expect(removals()).toEqual(removed);
});
