import { drainPools, fillPools } from '../../src/backends/sandbox/pool.js';
import { createRuntime, type Runtime } from '../../src/index.js';
import { rawSpawn } from '../floors.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

export default defineLine({
  name: 'sandbox-warm',
  summary: "a sandbox from the pool to its first command answered; floor: raw spawn('/bin/true')",

  async measure() {
    const create = () => createRuntime({ backend: 'sandbox', config: false, pool: { size: 2 } });
    let runtime: Runtime | undefined;
    // The first one finds the pool empty and has it filled.
    await using _first = await create();
    await fillPools();
    try {
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
        { rounds: 150, warmup: 15 },
      );
      const { p50 } = timings['create + first command'];
      return {
        timings,
        floor: "spawn('/bin/true')",
        figures: [{ name: 'p50', value: p50, unit: 'ms', better: 'less', bar: 3, aim: 1.2 }],
      };
    } finally {
      await drainPools();
    }
  },
});
