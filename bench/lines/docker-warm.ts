import { images, startDockerEngine } from '../../scripts/engines/docker.js';
import { drainPools, fillPools } from '../../src/backends/docker/container-pool.js';
import { createRuntime } from '../../src/index.js';
import { defineLine } from '../line.js';
import { measurePooled } from '../pooled.js';

export default defineLine({
  name: 'docker-warm',
  summary: "a container from the pool to its first command answered; floor: raw spawn('/bin/true')",

  async measure() {
    const engine = await startDockerEngine();
    const cell = { backend: 'docker', config: false, engine: engine.host, image: images.bare } as const;
    const create = () => createRuntime({ ...cell, pool: { size: 1 } });
    try {
      return await measurePooled({ create, fill: fillPools, rounds: 25, bar: 10, aim: 3 });
    } finally {
      await drainPools();
      await engine.stop();
    }
  },
});
