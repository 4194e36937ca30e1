/** The pod that we ask for, as far as no cluster needs to judge it. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { executorBundle } from '../../../src/backends/images/bundle/executor-bundle.js';
import { kubernetesOptions } from '../../../src/backends/kubernetes/kubernetes-options.js';
import { describePod, executorBytes } from '../../../src/backends/kubernetes/pod.js';
import kubernetes from '../../../src/backends/kubernetes.js';
import { refusal } from '../../../src/testing/contract/given.js';

const resourcesWith = (given: object) => containerWith(given).resources;

function containerWith(given: object): { resources: unknown; env?: unknown } {
  const options = z.object(kubernetesOptions).parse(given);
  const bundle = { command: () => ['node', 'executor'], hash: 'h' };
  const marks = { labels: {}, annotations: {} };
  const pod = describePod({ name: 'p', options, bundle, claim: undefined, marks }) as {
    spec: { containers: [{ resources: unknown; env?: unknown }] };
  };
  return pod.spec.containers[0];
}

test('the executor that the pod copies to its disk takes nothing from limits.diskBytes', async () => {
  const limits = { diskBytes: 10_000_000 };
  expect(resourcesWith({ limits })).toMatchObject({
    limits: { 'ephemeral-storage': String(10_000_000 + executorBytes) },
  });
  expect(resourcesWith({ limits, executorImage: 'none' })).toMatchObject({
    limits: { 'ephemeral-storage': '10000000' },
  });
  const { directory } = await executorBundle();
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  // As the node counts: whole blocks.
  const size = files.reduce((sum, name) => sum + statSync(join(directory, name)).blocks * 512, 0);
  expect(size).toBeGreaterThan(executorBytes / 2);
  expect(size).toBeLessThan(executorBytes);
});

test('GPUs are asked for and limited alike, by the name that the cluster gives them out as', () => {
  const gpu = { count: 2, resource: 'amd.com/gpu' };
  expect(resourcesWith({ gpu, limits: { cpus: 2 } })).toEqual({
    requests: { cpu: '50m', memory: '134217728', 'amd.com/gpu': '2' },
    limits: { cpu: '2000m', 'amd.com/gpu': '2' },
  });
});

test('a pod that asks for no GPU has none of NVIDIA, whatever its image asks of the runtime of the node', () => {
  const none = [{ name: 'NVIDIA_VISIBLE_DEVICES', value: 'void' }];
  expect(containerWith({}).env).toEqual(none);
  // The device plugin says which ones, in this variable; a cluster may give them out under a name of its own.
  expect(containerWith({ gpu: { count: 1, resource: 'team.example/gpu' } }).env).toBeUndefined();
  expect(containerWith({ gpu: { count: 1 } }).env).toBeUndefined();
  expect(containerWith({ gpu: { count: 1, resource: 'nvidia.com/mig-1g.5gb' } }).env).toBeUndefined();
});

test('an ingress without ports is refused', async () => {
  const options = { kubeconfig: '/nowhere', ingress: { domain: 'cells.test' } };
  const error = await refusal(kubernetes.start(options, { id: 'one', onStatus() {} }), 'invalid-config');
  expect(error.message).toContain('ports: [8080]');
});
