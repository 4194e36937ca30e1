/** Starts a cell, or takes one that waits. */

import { type Cell, WorkcellError } from '../../protocol/index.js';
import type { StartContext } from '../backend.js';
import { openEngine } from '../engines/docker-engine.js';
import { noSecretPool } from '../pool.js';
import { withAppPorts } from './app-ports.js';
import { reap } from './attach-container.js';
import { takeContainer } from './container-pool.js';
import type { DockerOptions, GivenDockerOptions } from './docker-options.js';
import { checkOptions, startContainer } from './start-container.js';

export async function startDocker(given: GivenDockerOptions, context: StartContext): Promise<Cell> {
  const options = withNetwork(given);
  const { id, signal, onStatus, plugins = [], networkSecrets } = context;
  checkOptions(options);
  void reap(await openEngine(options.engine));
  if (options.pool === undefined) {
    const onProgress = (message: string) => onStatus({ status: 'BUILDING_RUNTIME', level: 'info', message });
    return withAppPorts(options, (chosen) =>
      startContainer(chosen, { id, signal, plugins, onProgress, networkSecrets }),
    );
  }
  if (networkSecrets !== undefined && networkSecrets.length > 0) throw noSecretPool();
  const cell = await takeContainer(options, plugins);
  if (!signal?.aborted) return { ...cell, id };
  await cell.stop();
  throw new WorkcellError('cancelled', 'The start of the cell was cancelled.');
}

function withNetwork({ network, ...given }: GivenDockerOptions): DockerOptions {
  if (typeof network === 'object') return { ...given, network: 'none', rules: network };
  return { ...given, network: network === 'open' ? 'bridge' : network };
}
