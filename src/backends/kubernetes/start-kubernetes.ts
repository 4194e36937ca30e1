/** Starts a cell, or takes one that waits. */
import { randomBytes } from 'node:crypto';
import { loadPlugins, pluginSpecs } from '../../cell/plugins/load-plugins.js';
import { type Cell, WorkcellError } from '../../protocol/index.js';
import type { PluginSpec } from '../../protocol/plugin-spec.js';
import type { StartContext } from '../backend.js';
import { createPool } from '../pool.js';
import { reapPods } from './attach-pod.js';
import { openCluster } from './cluster-client.js';
import type { KubernetesOptions } from './kubernetes-options.js';
import { startPod } from './start-pod.js';
import { checkTemplate } from './weak-template.js';

/** The cells that wait in this process. */
export const podPool = createPool<KubernetesOptions & { plugins: PluginSpec[] }, Cell>({
  // The runtime that takes the cell has its own id; this one names the pod.
  start: async ({ plugins, ...options }) =>
    startPod(options, {
      id: randomBytes(8).toString('hex'),
      onStatus: () => {},
      plugins: await loadPlugins(plugins),
    }),
});

export async function startKubernetes(options: KubernetesOptions, context: StartContext): Promise<Cell> {
  checkOptions(options);
  const client = openCluster(options);
  void reapPods(client, options.namespace ?? client.namespace);
  if (options.pool === undefined || options.pool.shared) return startPod(options, context);
  const { id, signal, plugins = [] } = context;
  const cell = await podPool.take({ ...options, plugins: pluginSpecs(plugins) });
  if (!signal?.aborted) return { ...cell, id };
  await cell.stop();
  throw new WorkcellError('cancelled', 'The start of the cell was cancelled.');
}

/** Refuses problems that need no cluster. */
function checkOptions(options: KubernetesOptions): void {
  checkTemplate(options);
  const { pool: wanted, keepAlive, volume, ingress, ports } = options;
  if (ingress !== undefined && ports.length === 0)
    throw new WorkcellError(
      'invalid-config',
      'An ingress leads to ports of the cell, and there are none. Name them, such as ports: [8080], or leave out ingress.',
    );
  if (wanted === undefined) return;
  if (volume?.claim !== undefined || (wanted.shared && volume?.keep === true))
    throw new WorkcellError(
      'invalid-config',
      'A pool cannot hold cells with volume.claim, and a shared one none with volume.keep. Leave out pool, or these.',
    );
  if (keepAlive && !wanted.shared)
    throw new WorkcellError(
      'invalid-config',
      'A pool of this process cannot hold cells with keepAlive. Set pool.shared, or leave out one of them.',
    );
}
