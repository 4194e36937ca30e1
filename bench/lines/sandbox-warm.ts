import { drainPools, fillPools } from '../../src/backends/sandbox/sandbox-pool.js';
import { createRuntime } from '../../src/index.js';
import { defineLine } from '../line.js';
import { measurePooled } from '../pooled.js';

export default defineLine({
  name: 'sandbox-warm',
  summary: "a sandbox from the pool to its first command answered; floor: raw spawn('/bin/true')",

  async measure() {
    const create = () => createRuntime({ backend: 'sandbox', config: false, pool: { size: 2 } });
    try {
      return await measurePooled({ create, fill: fillPools, rounds: 150, bar: 1.3, aim: 1.2 });
    } finally {
      await drainPools();
    }
  },
});
