import { describe, expect, test } from 'vitest';
import { createRuntime } from '../../src/index.js';
import { clusterImages, kubernetesCluster } from '../engines/kubernetes.js';

const { kubeconfig } = await kubernetesCluster();

const cell = {
  backend: 'kubernetes',
  config: false,
  kubeconfig,
  image: clusterImages.bare,
  imagePullPolicy: 'Never',
} as const;

describe('a pod', () => {
  test('runs a command', async () => {
    await using runtime = await createRuntime(cell);
    const { output, exitCode } = await runtime.run('echo $((6 * 7)); id -u');
    expect({ output, exitCode }).toEqual({ output: '42\n1000\n', exitCode: 0 });
    expect(runtime.isolation.tier).toBe('container');
  });
});
