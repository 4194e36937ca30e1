import { describe, expect, test } from 'vitest';
import { createRuntime } from '../../src/index.js';
import { contractTests } from '../../src/testing/index.js';
import { clusterImages, kubernetesCluster } from '../engines/kubernetes.js';

const { kubeconfig } = await kubernetesCluster();

/**
 * Each behaviour starts pods, and what is beyond the place is the executor that every container has. A test run shows those
 * that the place decides (streams, input, ends, users, files of a volume); `npm run contract:kubernetes` shows all of them.
 */
const shown: readonly string[] = [
  ...['shell.exit-code', 'shell.sessions', 'shell.killed', 'input.line', 'input.interrupt', 'input.git-log'],
  ...[
    'output.large',
    'output.slow-listener',
    'limits.timeout-double-fork',
    'limits.cancel',
    'files.round-trip',
  ],
  ...['files.watch', 'files.outside', 'transfer.large', 'transfer.zip', 'transfer.broken-archive'],
  ...['processes.bytes', 'processes.signal', 'ports.forward', 'terminals.session', 'env.reaches-shells'],
  ...[
    'stats.figures',
    'runtime.facts',
    'runtime.concurrent',
    'runtime.close-ends-all',
    'runtime.start-aborted',
  ],
  ...['checkpoints.rewind', 'checkpoints.fork'],
  ...['runtime.min-isolation', 'code.state', 'code.bounded', 'tools.alike', 'refused.unknown-option'],
];

describe('contract of kubernetes', () => {
  const all = contractTests(
    {
      backend: 'kubernetes',
      kubeconfig,
      image: clusterImages.tools,
      // It is in the image, so that none of the many pods copies it.
      executorImage: 'none',
      imagePullPolicy: 'Never',
      pool: { size: 2 },
    },
    {
      traits: ['limited-tree', 'kernels', 'checkpoints', 'forks'],
      gaps: { 'input.node': 'the image of the tests has no Node' },
    },
  );
  const chosen = all.filter(({ id }) => process.env.WHOLE_CONTRACT === '1' || shown.includes(id));
  for (const { title, run } of chosen) test(title, run);
});

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
