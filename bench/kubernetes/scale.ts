/** Many cells on nodes that do not exist: created, followed, listed and deleted by the backend's own code. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { ClusterClient } from '../../src/backends/kubernetes/cluster-client.js';
import { findCluster } from '../../src/backends/kubernetes/kubeconfig.js';
import { kubernetesOptions } from '../../src/backends/kubernetes/kubernetes-options.js';
import { createPod, type OwnPod } from '../../src/backends/kubernetes/place-pod.js';
import { ownSelector, podMarks } from '../../src/backends/kubernetes/pod-labels.js';
import { PodWatch } from '../../src/backends/kubernetes/pod-watch.js';
import { removePod } from '../../src/backends/kubernetes/remove-pod.js';
import kubernetes from '../../src/backends/kubernetes.js';
import type { Measured } from '../line.js';
import { interleave } from '../measure.js';

const namespace = 'default';
const atOnce = 100;
const nodes = 20;

class CountingClient extends ClusterClient {
  requests = 0;
  override open(...call: Parameters<ClusterClient['open']>): ReturnType<ClusterClient['open']> {
    this.requests++;
    return super.open(...call);
  }
}

export async function measureScale(kubeconfig: string, cells: number): Promise<Measured> {
  const client = new CountingClient(findCluster({ kubeconfig }));
  const simulator = await startSimulator(kubeconfig);
  const watch = new PodWatch(client, namespace, ownSelector());
  const pods: OwnPod[] = [];
  const create = async (index: number) => {
    const options = z.object(kubernetesOptions).parse({
      keepAlive: true,
      executorImage: 'none',
      template: {
        spec: { nodeName: `simulated-${index % nodes}`, tolerations: [{ operator: 'Exists' }] },
      },
    });
    const id = `scale${index}`;
    const marks = podMarks({ id, options, home: undefined, start: id });
    const bundle = { command: () => ['true'], hash: '' };
    const pod = await createPod({
      client,
      namespace,
      id,
      options,
      bundle,
      claim: undefined,
      marks,
      watch,
      signal: undefined,
    });
    pods.push(pod);
  };
  const inBatch = (work: (index: number) => Promise<void>) => {
    let next = 0;
    return () => Promise.all(Array.from({ length: atOnce }, () => work(next++)));
  };
  const all = { rounds: cells / atOnce, warmup: 0 };
  const createThem = `create ${atOnce}, until they run`;
  const deleteThem = `delete ${atOnce}`;
  try {
    const creating = await interleave({ [createThem]: inBatch(create) }, all);
    const perCell = client.requests / cells;
    const held = residentBytes();
    let listed = 0;
    const looking = await interleave(
      {
        'list all': async () => {
          listed = (await kubernetes.list?.({ kubeconfig, namespace }))?.length ?? 0;
        },
        'raw list of the server': async () => {
          for await (const _chunk of await client.open('GET', `/api/v1/namespaces/${namespace}/pods`));
        },
      },
      { rounds: 5, warmup: 0 },
    );
    const most = Math.max(held, residentBytes());
    const deleting = await interleave(
      {
        [deleteThem]: inBatch(async (index) => {
          const pod = pods[index];
          if (pod !== undefined) await removePod(client, { ...pod, namespace });
        }),
      },
      all,
    );
    // The watch tells each of them.
    await Promise.all(pods.map(({ followed }) => followed.gone));
    for (const { followed } of pods) followed.stop();
    const goal = { unit: 'MiB', better: 'less', bar: 200 } as const;
    const mebibytes = (bytes: number) => bytes / 1024 ** 2;
    return {
      timings: { ...creating, ...looking, ...deleting },
      floor: 'raw list of the server',
      figures: [
        { name: `memory of this process with ${cells} cells`, value: mebibytes(held), ...goal },
        { name: 'the same after it listed them', value: mebibytes(most), ...goal },
        { name: 'requests of a start', value: perCell, unit: '', better: 'less', bar: 1.01 },
        { name: 'cells that a list tells', value: listed, unit: '', better: 'more', bar: cells },
      ],
    };
  } finally {
    simulator.stdin.end();
  }
}

async function startSimulator(kubeconfig: string) {
  const program = fileURLToPath(new URL('simulated-nodes.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', program, kubeconfig, namespace, String(nodes)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const failed = once(child, 'exit').then(() => {
    throw new Error('The simulated nodes ended.');
  });
  failed.catch(() => {});
  await Promise.race([once(child.stdout, 'data'), failed]);
  return child;
}

function residentBytes(): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1]) * 1024;
}
