/** The watch, on servers that lag, forget or end every stream at once. */
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { afterEach, expect, test, vi } from 'vitest';
import { openCluster } from '../../../src/backends/kubernetes/cluster-client.js';
import { watchPods } from '../../../src/backends/kubernetes/pod-watch.js';
import kubernetes from '../../../src/backends/kubernetes.js';
import { refusal } from '../../../src/testing/contract/given.js';
import { emptyCluster, type StubCluster, stubCluster } from './stub-cluster.js';

let cluster: StubCluster;
afterEach(() => {
  vi.restoreAllMocks();
  cluster.close();
});

const watchHere = () => watchPods(openCluster({ kubeconfig: cluster.kubeconfig }), 'agents', 'a=b');

test('streams that end at once are asked for at longer and longer intervals', async () => {
  const timers = vi.spyOn(globalThis, 'setTimeout');
  const enough = new PassThrough();
  let watches = 0;
  cluster = await stubCluster((request, response) => {
    if (!request.query.has('watch')) return emptyCluster(request, response);
    if (++watches === 5) enough.end('five');
    // With an event in it, too.
    response.end('{"type":"BOOKMARK","object":{"metadata":{"name":"x","resourceVersion":"2"}}}\n');
    return undefined;
  });
  const stop = watchHere().follow('p', () => {});
  await once(enough, 'readable');
  stop();
  expect(timers.mock.calls.map(([, ms]) => ms)).toEqual(expect.arrayContaining([50, 100, 200, 400]));
});

test('a list that says which pods are gone is never from a server that lags', async () => {
  const versions: (string | null)[] = [];
  cluster = await stubCluster((request, response) => {
    if (request.query.has('watch')) {
      if (versions.length === 2) return emptyCluster(request, response);
      response.end('{"type":"ERROR","object":{"metadata":{},"code":410}}\n');
      return undefined;
    }
    versions.push(request.query.get('resourceVersion'));
    const items = versions.length === 1 ? [{ metadata: { name: 'p' } }] : [];
    return { metadata: { resourceVersion: '1' }, items };
  });
  await new Promise<void>((resolve) => {
    const stop = watchHere().follow('p', (pod) => {
      if (pod !== undefined) return;
      stop();
      resolve();
    });
  });
  expect(versions).toEqual(['0', null]);
});

test('a pod that somebody expects and no later list has is gone', async () => {
  let lists = 0;
  cluster = await stubCluster((request, response) => {
    if (!request.query.has('watch')) {
      lists++;
      return { metadata: { resourceVersion: '1' }, items: [] };
    }
    if (lists === 2) return emptyCluster(request, response);
    response.end('{"type":"ERROR","object":{"metadata":{},"code":410}}\n');
    return undefined;
  });
  const watch = watchHere();
  const told = await new Promise((resolve) => {
    const stop = watch.follow('p', (pod) => {
      stop();
      resolve(pod);
    });
    watch.expect('p');
  });
  // The first list may be older than the pod.
  expect({ told, lists }).toEqual({ told: undefined, lists: 2 });
});

test('a long list is asked for in pages, and no page ends a pod of another', async () => {
  const asked: (string | null)[] = [];
  let watches = 0;
  cluster = await stubCluster((request, response) => {
    if (request.query.has('watch')) {
      if (++watches > 1) return emptyCluster(request, response);
      response.end('{"type":"ERROR","object":{"metadata":{},"code":410}}\n');
      return undefined;
    }
    const page = request.query.get('continue');
    asked.push(page);
    const names = page === 'more' ? ['q'] : ['p'];
    const items = names.map((name) => ({ metadata: { name } }));
    const isLast = page === 'more' || !request.query.has('limit');
    return { metadata: { resourceVersion: '1', ...(!isLast && { continue: 'more' }) }, items };
  });
  const watch = watchHere();
  const told: [string, boolean][] = [];
  await new Promise<void>((resolve) => {
    const stops = ['p', 'q'].map((name) =>
      watch.follow(name, (pod) => {
        told.push([name, pod !== undefined]);
        if (told.length < 3) return;
        for (const stop of stops) stop();
        resolve();
      }),
    );
    watch.expect('q');
  });
  expect(asked).toEqual([null, null, 'more']);
  expect(told).toEqual([
    ['p', true],
    ['p', true],
    ['q', true],
  ]);
});

test('one who stops to follow a name takes nothing from another who follows it', async () => {
  cluster = await stubCluster((request, response) => {
    if (!request.query.has('watch')) return emptyCluster(request, response);
    response.write('{"type":"ADDED","object":{"metadata":{"name":"p"}}}\n');
    return undefined;
  });
  const watch = watchHere();
  await new Promise<void>((resolve) => {
    const stop = watch.follow('p', () => {
      stop();
      resolve();
    });
    watch.follow('p', () => {})();
  });
});

test.each([
  [403, 'permission-denied'],
  [401, 'unauthorized'],
] as const)('a start whose watch gets %i fails at once with %s', async (status, code) => {
  cluster = await stubCluster((request, response) => {
    const { method, path, query } = request;
    if (method === 'POST' && path.endsWith('/pods')) return { metadata: { name: 'p', uid: 'ours' } };
    return query.has('watch') ? status : emptyCluster(request, response);
  });
  const options = { kubeconfig: cluster.kubeconfig, namespace: 'agents', network: 'open' } as const;
  await refusal(kubernetes.start(options, { id: 'one', onStatus() {} }), code);
  expect(cluster.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
});
