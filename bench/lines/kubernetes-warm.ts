import { clusterImages, startKubernetesCluster } from '../../scripts/engines/kubernetes.js';
import { podPool } from '../../src/backends/kubernetes/start-kubernetes.js';
import { createRuntime } from '../../src/index.js';
import { defineLine } from '../line.js';
import { measurePooled } from '../pooled.js';

export default defineLine({
  name: 'kubernetes-warm',
  summary: "a pod from the pool to its first command answered; floor: raw spawn('/bin/true')",

  async measure() {
    const { kubeconfig, stop } = await startKubernetesCluster();
    const create = () =>
      createRuntime({
        backend: 'kubernetes',
        config: false,
        kubeconfig,
        image: clusterImages.tools,
        executorImage: 'none',
        imagePullPolicy: 'Never',
        pool: { size: 1 },
      });
    try {
      return await measurePooled({ create, fill: podPool.fill, rounds: 20, bar: 50, aim: 15 });
    } finally {
      await podPool.drain();
      await stop();
    }
  },
});
