/** What a cluster refuses or cannot give: each has an error of its own, with the cluster's words in it. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { List, Pod } from '../../../src/backends/kubernetes/objects.js';
import { createRuntime } from '../../../src/index.js';
import { refusal } from '../../../src/testing/contract/given.js';
import { clusterImages, kubernetesCluster } from '../../engines/kubernetes.js';
import { adminOf, changedKubeconfig, makeNamespace } from './namespaces.js';

const { kubeconfig } = await kubernetesCluster();
const admin = adminOf(kubeconfig);
let namespace: string;
beforeAll(async () => {
  namespace = await makeNamespace(admin, { 'pod-security.kubernetes.io/enforce': 'restricted' });
});

const cell = () =>
  ({
    backend: 'kubernetes',
    config: false,
    kubeconfig,
    namespace,
    image: clusterImages.bare,
    imagePullPolicy: 'Never',
  }) as const;

describe('at once', () => {
  test('no kubeconfig', async () => {
    const error = await refusal(
      createRuntime({ ...cell(), kubeconfig: '/nowhere/config' }),
      'backend-unavailable',
    );
    expect(error.message).toContain('/nowhere/config');
  });

  test('no such context', async () => {
    const error = await refusal(createRuntime({ ...cell(), context: 'nowhere' }), 'invalid-config');
    expect(error.message).toContain('It has: test');
  });

  test('nobody who answers', async () => {
    const path = changedKubeconfig(kubeconfig, ({ clusters }) => {
      if (clusters[0] !== undefined) clusters[0].cluster.server = 'https://127.0.0.1:1';
    });
    await refusal(createRuntime({ ...cell(), kubeconfig: path }), 'backend-unavailable');
  });

  test('a token that the cluster does not know', async () => {
    const path = changedKubeconfig(kubeconfig, ({ users }) => {
      if (users[0] !== undefined) users[0].user = { token: 'nobodys-token' };
    });
    await refusal(createRuntime({ ...cell(), kubeconfig: path }), 'unauthorized');
  });

  test('no such namespace', async () => {
    const error = await refusal(createRuntime({ ...cell(), namespace: 'nowhere' }), 'not-found');
    expect(error.message).toContain('kubectl create namespace nowhere');
  });

  test('no such service account', async () => {
    await refusal(createRuntime({ ...cell(), serviceAccount: 'nobody' }), 'not-found');
  });

  test('no such runtime class', async () => {
    const error = await refusal(createRuntime({ ...cell(), runtimeClass: 'quantum' }), 'invalid-config');
    expect(error.message).toContain('quantum');
  });

  test('a template that the namespace forbids', async () => {
    const sidecar = { name: 'more', image: clusterImages.bare, securityContext: { privileged: true } };
    const template = { spec: { containers: [sidecar] } };
    const error = await refusal(
      createRuntime({ ...cell(), template, allowWeakTemplate: true }),
      'invalid-config',
    );
    expect(error.message).toMatch(/violates PodSecurity.*privileged/);
  });

  test('a quota that is used up', async () => {
    const full = await makeNamespace(admin);
    await admin.ask('POST', `/api/v1/namespaces/${full}/resourcequotas`, {
      body: { metadata: { name: 'none' }, spec: { hard: { pods: '0' } } },
    });
    const error = await refusal(createRuntime({ ...cell(), namespace: full }), 'backend-unavailable');
    expect(error.message).toMatch(/quota/);
  });

  test('a namespace that is being removed', async () => {
    const ending = await makeNamespace(admin);
    await admin.ask('POST', `/api/v1/namespaces/${ending}/configmaps`, {
      body: { metadata: { name: 'held', finalizers: ['example.test/held'] } },
    });
    await admin.ask('DELETE', `/api/v1/namespaces/${ending}`);
    const error = await refusal(createRuntime({ ...cell(), namespace: ending }), 'backend-unavailable');
    expect(error.message).toContain('terminated');
    const release = { body: { metadata: { finalizers: null } } };
    await admin.ask('PATCH', `/api/v1/namespaces/${ending}/configmaps/held`, release);
  });
});

// A node tells some of them at its second try only.
describe.concurrent('by the state of the pod', () => {
  test('an image that the node does not have', async () => {
    const error = await refusal(createRuntime({ ...cell(), image: 'nobody/nothing:1' }), 'image-missing');
    expect(error.message).toMatch(/nobody\/nothing:1.*ErrImageNeverPull/);
  });

  test('an image of the executor that the node does not have', async () => {
    const error = await refusal(
      createRuntime({ ...cell(), executorImage: 'nobody/executor:1' }),
      'image-missing',
    );
    expect(error.message).toContain('executorImage');
  });

  test('what is no name of an image', async () => {
    await refusal(createRuntime({ ...cell(), image: 'Not One' }), 'invalid-config');
  });

  test('an image without the executor', async () => {
    const error = await refusal(createRuntime({ ...cell(), executorImage: 'none' }), 'backend-unavailable');
    expect(error.message).toContain('/opt/workcell');
  });

  test('a secret that is not there', async () => {
    const error = await refusal(createRuntime({ ...cell(), envFromSecrets: ['nothing'] }), 'invalid-config');
    expect(error.message).toContain('"nothing" not found');
  });
});

describe.concurrent('by the events of the cluster, when the time is over', () => {
  const startTimeoutMs = 4000;

  test.each([
    ['no node that fits', { nodeSelector: { disk: 'none' } }, /Unschedulable.*node/s],
    ['more memory than any node has', { requests: { memoryBytes: 2 ** 50 } }, /Insufficient memory/],
    ['a volume that nobody makes', { volume: { storageClass: 'nobodys' } }, /persistentvolumeclaim|unbound/],
  ])('%s', async (_what, options, reason) => {
    const error = await refusal(
      createRuntime({ ...cell(), ...options, startTimeoutMs }),
      'backend-unavailable',
    );
    expect(error.message).toMatch(reason);
  });
});

test('none of them leaves anything', async () => {
  const { items } = await admin.ask<List<Pod>>('GET', `/api/v1/namespaces/${namespace}/pods`);
  expect(items.map(({ metadata }) => metadata.name)).toEqual([]);
});
