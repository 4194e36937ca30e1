/** Starts a cell, or takes one that waits. */

import { type Cell, WorkcellError } from '../../protocol/index.js';
import type { StartContext } from '../backend.js';
import { openEngine } from '../engines/docker-engine.js';
import { reap } from './attach-container.js';
import { takeContainer } from './container-pool.js';
import type { DockerOptions } from './docker-options.js';
import { checkOptions, startContainer } from './start-container.js';

export async function startDocker(given: DockerOptions, context: StartContext): Promise<Cell> {
  const options = given.network === 'open' ? { ...given, network: 'bridge' } : given;
  const { id, signal, onStatus, plugins = [] } = context;
  checkOptions(options);
  void reap(await openEngine(options.engine));
  if (options.pool === undefined) {
    const onProgress = (message: string) => onStatus({ status: 'BUILDING_RUNTIME', level: 'info', message });
    return startContainer(options, { id, signal, plugins, onProgress });
  }
  const cell = await takeContainer(options, plugins);
  if (!signal?.aborted) return { ...cell, id };
  await cell.stop();
  throw new WorkcellError('cancelled', 'The start of the cell was cancelled.');
}
