/** A pod without anything of ours in it, as a floor. */
import { randomBytes } from 'node:crypto';
import { openCluster } from '../../src/backends/kubernetes/cluster-client.js';
import { type Pod, podPath, podsPath } from '../../src/backends/kubernetes/objects.js';
import { watchPods } from '../../src/backends/kubernetes/pod-watch.js';

const label = 'workcell.bench';

/** Settles when the pod is Ready. Returns the function that removes it. */
export async function startBarePod(kubeconfig: string, image: string): Promise<() => Promise<unknown>> {
  const client = openCluster({ kubeconfig });
  const name = `bare-${randomBytes(8).toString('hex')}`;
  let stop = () => {};
  const ready = new Promise<void>((resolve) => {
    stop = watchPods(client, 'default', label).follow(name, (pod) => {
      if (isReady(pod)) resolve();
    });
  });
  const container = { name: 'main', image, imagePullPolicy: 'Never', command: ['sleep', '1000'] };
  await client.ask('POST', podsPath('default'), {
    body: {
      metadata: { name, labels: { [label]: 'yes' } },
      spec: { automountServiceAccountToken: false, restartPolicy: 'Never', containers: [container] },
    },
  });
  await ready;
  return () => {
    stop();
    return client.ask('DELETE', podPath('default', name), { query: { gracePeriodSeconds: 0 } });
  };
}

function isReady(pod: Pod | undefined): boolean {
  return pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
}
