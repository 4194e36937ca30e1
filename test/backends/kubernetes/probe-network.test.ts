/** What the silence of a cell shows, on a cluster that enforces policies and on one that does not answer anybody. */
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { openCluster } from '../../../src/backends/kubernetes/cluster-client.js';
import { denyNetwork } from '../../../src/backends/kubernetes/deny-network.js';
import { kubernetesOptions } from '../../../src/backends/kubernetes/kubernetes-options.js';
import { watchPods } from '../../../src/backends/kubernetes/pod-watch.js';
import { isDenied } from '../../../src/backends/kubernetes/probe-network.js';
import { emptyCluster, type StubCluster, stubCluster } from './stub-cluster.js';

let cluster: StubCluster;
afterEach(() => cluster.close());

interface Sent {
  readonly metadata: { readonly name: string; readonly labels: Record<string, string> };
  readonly spec: { readonly containers: readonly { readonly command: readonly string[] }[] };
}

/** A cluster in which a pod that no policy selects ends with these words; a number refuses it. */
async function clusterWhere(words: string | number) {
  let policy: { metadata: object } | undefined;
  let tell = (_event: object): void => {};
  cluster = await stubCluster((request, response) => {
    const { method, path, query, body } = request;
    if (path.endsWith('/networkpolicies')) {
      if (method === 'GET') return { metadata: {}, items: policy === undefined ? [] : [policy] };
      policy = body as never;
      return policy;
    }
    if (method === 'PATCH') {
      policy = { ...policy, metadata: { name: 'workcell-network-none', ...body?.metadata } };
      return policy;
    }
    if (query.has('watch')) {
      response.flushHeaders();
      tell = (object) => response.write(`${JSON.stringify({ type: 'MODIFIED', object })}\n`);
      return undefined;
    }
    if (method !== 'POST') return emptyCluster(request, response);
    if (typeof words === 'number') return words;
    const { metadata } = body as unknown as Sent;
    const pod = { metadata: { ...metadata, uid: 'of the probe' } };
    const state = { terminated: { exitCode: 0, message: words } };
    const status = { phase: 'Succeeded', containerStatuses: [{ name: 'executor', state }] };
    tell({ ...pod, status });
    return pod;
  });
  const client = openCluster({ kubeconfig: cluster.kubeconfig });
  const watch = watchPods(client, 'agents', 'a=b');
  // Keeps the watch open.
  const stop = watch.follow('cell', () => {});
  const order = {
    client,
    namespace: 'agents',
    id: 'one',
    options: z.object(kubernetesOptions).parse({}),
    bundle: { command: () => ['node', 'executor'], hash: 'h' },
    claim: undefined,
    marks: { labels: {}, annotations: {} },
    watch,
    signal: undefined,
  };
  return {
    async isDenied(connected: boolean | undefined) {
      return isDenied(order, await denyNetwork(client, 'agents'), { labels: {}, connected });
    },
    pods: () => {
      const made = cluster.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/pods'));
      return made.map(({ body }) => body as unknown as Sent);
    },
    removed: () => cluster.requests.filter(({ method }) => method === 'DELETE').length,
    stop,
  };
}

test('a cell that connects has a network, and no other pod needs to try', async () => {
  const here = await clusterWhere('connected');
  expect(await here.isDenied(true)).toBe(false);
  expect(here.pods()).toEqual([]);
  here.stop();
});

test('where another pod connects the silence of a cell is the policy, which is tried once', async () => {
  const here = await clusterWhere('connected');
  expect(await here.isDenied(false)).toBe(true);
  expect(here.pods().map(({ metadata }) => metadata.labels['workcell.network'])).toEqual(['open']);
  expect(here.removed()).toBe(1);
  expect(await here.isDenied(undefined)).toBe(true);
  expect(here.pods()).toHaveLength(1);
  here.stop();
});

test('where another pod is silent, too, nobody knows, which is tried once', async () => {
  const here = await clusterWhere('silence');
  expect(await here.isDenied(false)).toBe(false);
  expect(await here.isDenied(false)).toBe(false);
  expect(here.pods()).toHaveLength(1);
  here.stop();
});

test.each([
  ['says nothing', ''],
  ['cannot start', 403],
])('where another pod %s nobody knows yet, and the next start tries again', async (_what, words) => {
  const here = await clusterWhere(words);
  expect(await here.isDenied(false)).toBe(false);
  expect(await here.isDenied(false)).toBe(false);
  expect(here.pods()).toHaveLength(2);
  expect(cluster.requests.filter(({ method }) => method === 'PATCH')).toEqual([]);
  here.stop();
});
