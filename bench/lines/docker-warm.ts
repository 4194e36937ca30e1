import { images, startDockerEngine } from '../../scripts/engines/docker.js';
import { drainPools, fillPools } from '../../src/backends/docker/pool.js';
import { createRuntime, type Runtime } from '../../src/index.js';
import { rawSpawn } from '../floors.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

export default defineLine({
  name: 'docker-warm',
  summary: "a container from the pool to its first command answered; floor: raw spawn('/bin/true')",

  async measure() {
    const engine = await startDockerEngine();
    const cell = { backend: 'docker', config: false, engine: engine.host, image: images.bare } as const;
    const create = () => createRuntime({ ...cell, pool: { size: 1 } });
    try {
      // The first one finds the pool empty and has it filled.
      await using _first = await create();
      await fillPools();
      let runtime: Runtime | undefined;
      const timings = await interleave(
        {
          'create + first command': async () => {
            runtime = await create();
            await runtime.run('true');
          },
          "spawn('/bin/true')": () => rawSpawn('/bin/true'),
          close: () => runtime?.close(),
          'refill of the pool': fillPools,
        },
        { rounds: 25, warmup: 3 },
      );
      const { p50 } = timings['create + first command'];
      return {
        timings,
        floor: "spawn('/bin/true')",
        figures: [{ name: 'p50', value: p50, unit: 'ms', better: 'less', bar: 10, aim: 3 }],
      };
    } finally {
      await drainPools();
      await engine.stop();
    }
  },
});
