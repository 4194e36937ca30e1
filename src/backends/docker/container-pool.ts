/** Containers that start ahead of demand. */
import { randomBytes } from 'node:crypto';
import { type LoadedPlugin, loadPlugins, pluginSpecs } from '../../cell/plugins/load-plugins.js';
import type { Cell } from '../../protocol/index.js';
import type { PluginSpec } from '../../protocol/plugin-spec.js';
import { createPool } from '../pool.js';
import { withAppPorts } from './app-ports.js';
import type { DockerOptions } from './docker-options.js';
import { startContainer } from './start-container.js';

const pool = createPool<DockerOptions & { plugins: PluginSpec[] }, Cell>({
  // The runtime that takes the cell has its own id; this one names the container.
  start: async ({ plugins, ...options }) => {
    const parts = { id: randomBytes(8).toString('hex'), plugins: await loadPlugins(plugins) };
    return withAppPorts(options, (chosen) => startContainer(chosen, parts));
  },
});

export function takeContainer(options: DockerOptions, plugins: readonly LoadedPlugin[]): Promise<Cell> {
  return pool.take({ ...options, plugins: pluginSpecs(plugins) });
}

export const { fill: fillPools, drain: drainPools } = pool;
