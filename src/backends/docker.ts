/** Runs everything in a container of a Docker Engine. The executor is inside, as another user than the commands. */

import { defineBackend, type Probe } from './backend.js';
import { attachContainer, containerStats, listContainers } from './docker/attach-container.js';
import { dockerOptions } from './docker/docker-options.js';
import { startDocker } from './docker/start-docker.js';
import { engineTrouble, openEngine } from './engines/docker-engine.js';
import { bundleObstacle } from './images/bundle/bundle-obstacle.js';

export default defineBackend({
  type: 'docker',
  options: dockerOptions,

  async probe(): Promise<Probe> {
    const obstacle = bundleObstacle();
    if (obstacle !== undefined) return obstacle;
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

  start: startDocker,
  place: ['engine'],
  attach: (id, place, context) => attachContainer('docker', id, place, context),
  list: (place) => listContainers('docker', place),
  stats: (id, place, context) => containerStats('docker', id, place, context),
});
