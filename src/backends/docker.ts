/** Runs everything in a container of a Docker Engine. The executor is inside, as another user than the commands. */
import { engineTrouble, openEngine } from '../engines/docker.js';
import { WorkcellError } from '../protocol/index.js';
import { defineBackend, type Probe } from './backend.js';
import { attachContainer, listContainers, reap } from './docker/attach.js';
import { checkOptions, startContainer } from './docker/cell.js';
import { dockerOptions } from './docker/options.js';
import { takeContainer } from './docker/pool.js';

export default defineBackend({
  type: 'docker',
  options: dockerOptions,

  async probe(): Promise<Probe> {
    const engine = await openEngine();
    try {
      const { Version: version } = await engine.docker.version();
      return {
        available: true,
        tier: 'container',
        summary: `Docker Engine ${version} at ${engine.host}: containers with namespaces, a seccomp filter and limits of their own.`,
        advice: [],
      };
    } catch (error) {
      const summary = engineTrouble(engine, error)?.message ?? String(error);
      return { available: false, tier: 'none', summary, advice: [] };
    }
  },

  async start(options, { id, signal, plugins = [] }) {
    checkOptions(options);
    void reap(await openEngine(options.engine));
    if (options.pool === undefined) return startContainer(options, { id, signal, plugins });
    const cell = await takeContainer(options, plugins);
    if (!signal?.aborted) return { ...cell, id };
    await cell.stop();
    throw new WorkcellError('cancelled', 'The start of the cell was cancelled.');
  },

  attach: attachContainer,
  list: listContainers,
});
