import { startKubernetesCluster } from '../../scripts/engines/kubernetes.js';
import { measureScale } from '../kubernetes/scale.js';
import { defineLine } from '../line.js';

const cells = 10_000;

export default defineLine({
  name: 'kubernetes-scale',
  summary: `${cells} cells on nodes that do not exist, at a real API server: created, followed, listed, deleted`,

  async measure() {
    const cluster = await startKubernetesCluster();
    try {
      return await measureScale(cluster.kubeconfig, cells);
    } finally {
      await cluster.stop();
    }
  },
});
