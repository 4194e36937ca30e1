import { clusterImages, startKubernetesCluster } from '../../scripts/engines/kubernetes.js';
import { createRuntime } from '../../src/index.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

export default defineLine({
  name: 'kubernetes-command',
  summary:
    'a command over the forwarded port of a pod; floor: the same over the local socket of backend local',

  async measure() {
    const { kubeconfig, stop } = await startKubernetesCluster();
    try {
      await using pod = await createRuntime({
        backend: 'kubernetes',
        config: false,
        kubeconfig,
        image: clusterImages.tools,
        executorImage: 'none',
        imagePullPolicy: 'Never',
      });
      await using near = await createRuntime({ backend: 'local', config: false });
      const floor = 'over a local socket';
      const timings = await interleave(
        { 'over a forwarded port': () => pod.run(':'), [floor]: () => near.run(':') },
        { rounds: 300, warmup: 30 },
      );
      const more =
        (timings['over a forwarded port']?.p50 ?? Number.NaN) - (timings[floor]?.p50 ?? Number.NaN);
      return {
        timings,
        floor,
        figures: [{ name: 'more than the floor, p50', value: more, unit: 'ms', better: 'less', bar: 2 }],
      };
    } finally {
      await stop();
    }
  },
});
