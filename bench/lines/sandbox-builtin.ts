import { createRuntime } from '../../src/index.js';
import { pipedBash } from '../floors.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

export default defineLine({
  name: 'sandbox-builtin',
  summary: "run ':' in a live shell of a sandbox; floor: a bash builtin over a pipe",

  async measure() {
    await using runtime = await createRuntime({ config: false, backend: 'sandbox' });
    const bash = pipedBash();
    try {
      const timings = await interleave(
        { "run ':'": () => runtime.run(':'), 'builtin over a pipe': () => bash.run(':') },
        { rounds: 3000, warmup: 300 },
      );
      return {
        timings,
        floor: 'builtin over a pipe',
        figures: [
          { name: 'p50', value: timings["run ':'"].p50, unit: 'ms', better: 'less', bar: 0.3, aim: 0.1 },
        ],
      };
    } finally {
      bash.close();
    }
  },
});
