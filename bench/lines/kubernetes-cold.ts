import { clusterImages, startKubernetesCluster } from '../../scripts/engines/kubernetes.js';
import { createRuntime, type Runtime } from '../../src/index.js';
import { startBarePod } from '../kubernetes/bare-pod.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

export default defineLine({
  name: 'kubernetes-cold',
  summary:
    'a pod from nothing to its first command answered; floor: a bare pod of the same image until it is Ready',

  async measure() {
    const { kubeconfig, stop } = await startKubernetesCluster();
    try {
      const cell = {
        backend: 'kubernetes',
        config: false,
        kubeconfig,
        image: clusterImages.tools,
        executorImage: 'none',
        imagePullPolicy: 'Never',
      } as const;
      const floor = 'a bare pod until it is Ready';
      let runtime: Runtime | undefined;
      let remove: (() => Promise<unknown>) | undefined;
      const timings = await interleave(
        {
          'create + first command': async () => {
            runtime = await createRuntime(cell);
            await runtime.run('true');
          },
          close: () => runtime?.close(),
          [floor]: async () => {
            remove = await startBarePod(kubeconfig, cell.image);
          },
          'delete of the bare pod': () => remove?.(),
          'with an init container': async () => {
            runtime = await createRuntime({ ...cell, executorImage: clusterImages.executor });
            await runtime.run('true');
          },
          'close of that': () => runtime?.close(),
        },
        { rounds: 15, warmup: 1 },
      );
      const ratio =
        (timings['create + first command']?.p50 ?? Number.NaN) / (timings[floor]?.p50 ?? Number.NaN);
      return {
        timings,
        floor,
        figures: [{ name: 'ratio of p50', value: ratio, unit: '×', better: 'less', bar: 1.5 }],
      };
    } finally {
      await stop();
    }
  },
});
