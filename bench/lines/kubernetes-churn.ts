import { clusterImages, startKubernetesCluster } from '../../scripts/engines/kubernetes.js';
import { openCluster } from '../../src/backends/kubernetes/cluster-client.js';
import type { List } from '../../src/backends/kubernetes/objects.js';
import { createRuntime } from '../../src/index.js';
import { startBarePod } from '../kubernetes/bare-pod.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

const atOnce = 20;
const rounds = 5;

export default defineLine({
  name: 'kubernetes-churn',
  summary: `create, run, delete of ${atOnce} pods at once, ${rounds} times; floor: as many bare pods until Ready`,

  async measure() {
    const { kubeconfig, stop } = await startKubernetesCluster();
    const client = openCluster({ kubeconfig });
    let failures = 0;
    const image = clusterImages.tools;
    const cycle = async () => {
      try {
        await using runtime = await createRuntime({
          backend: 'kubernetes',
          config: false,
          kubeconfig,
          image,
          executorImage: 'none',
          imagePullPolicy: 'Never',
          ports: [8080],
          ingress: { domain: 'cells.test' },
        });
        if ((await runtime.run('echo $((6 * 7))')).output !== '42\n') failures++;
      } catch (error) {
        failures++;
        console.error(error);
      }
    };
    const count = async (path: string) => {
      const { items } = await client.ask<List<unknown>>('GET', path, {
        query: { labelSelector: 'workcell.id' },
      });
      return items.length;
    };
    const many = (work: () => Promise<unknown>) => () => Promise.all(Array.from({ length: atOnce }, work));
    try {
      const floor = `${atOnce} bare pods`;
      const timings = await interleave(
        {
          [`${atOnce} cells`]: many(cycle),
          [floor]: many(async () => (await startBarePod(kubeconfig, image))()),
        },
        { rounds, warmup: 0 },
      );
      const core = '/api/v1/namespaces/default';
      const places = [
        ...['pods', 'services', 'persistentvolumeclaims', 'secrets', 'configmaps'].map(
          (kind) => `${core}/${kind}`,
        ),
        '/apis/networking.k8s.io/v1/namespaces/default/ingresses',
      ];
      // The cluster removes what belonged to a pod a moment after it.
      const left = async () => {
        const counts = await Promise.all(places.map(count));
        return counts.reduce((sum, each) => sum + each, 0);
      };
      const deadline = performance.now() + 30_000;
      while ((await left()) > 0 && performance.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, 200));
      return {
        timings,
        floor,
        figures: [
          { name: 'cycles that failed', value: failures, unit: '', better: 'less', bar: 0 },
          { name: 'objects left', value: await left(), unit: '', better: 'less', bar: 0 },
        ],
      };
    } finally {
      await stop();
    }
  },
});
