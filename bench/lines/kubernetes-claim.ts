import { setTimeout as pause } from 'node:timers/promises';
import { clusterImages, startKubernetesCluster } from '../../scripts/engines/kubernetes.js';
import { openCluster } from '../../src/backends/kubernetes/cluster-client.js';
import { type List, type Pod, podsPath } from '../../src/backends/kubernetes/objects.js';
import { isReady } from '../../src/backends/kubernetes/waiting-pods.js';
import { createRuntime, type Runtime } from '../../src/index.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

export default defineLine({
  name: 'kubernetes-claim',
  summary: 'a pod of a shared pool to its first command answered; floor: a request to the API server',

  async measure() {
    const { kubeconfig, stop } = await startKubernetesCluster();
    const client = openCluster({ kubeconfig });
    const create = () =>
      createRuntime({
        backend: 'kubernetes',
        config: false,
        kubeconfig,
        image: clusterImages.tools,
        executorImage: 'none',
        imagePullPolicy: 'Never',
        pool: { size: 2, shared: true },
      });
    const waiting = async () => {
      const query = { labelSelector: 'workcell.pool' };
      return (await client.ask<List<Pod>>('GET', podsPath('default'), { query })).items;
    };
    const refilled = async () => {
      while ((await waiting()).filter(isReady).length < 2) await pause(50);
    };
    try {
      await (await create()).close();
      await refilled();
      let runtime: Runtime | undefined;
      const floor = 'GET /version';
      const timings = await interleave(
        {
          'create + first command': async () => {
            runtime = await create();
            await runtime.run('true');
          },
          close: () => runtime?.close(),
          'refill of the pool': refilled,
          [floor]: () => client.ask('GET', '/version'),
        },
        { rounds: 20, warmup: 2 },
      );
      const { p50 } = timings['create + first command'] ?? { p50: Number.NaN };
      return {
        timings,
        floor,
        figures: [{ name: 'p50', value: p50, unit: 'ms', better: 'less', bar: 50, aim: 15 }],
      };
    } finally {
      await stop();
    }
  },
});
