import { createRuntime } from '../../src/index.js';
import { pipedBash } from '../floors.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

export default defineLine({
  name: 'builtin',
  summary: "run ':' in a live shell, in process and in a sandbox; floor: a bash builtin over a pipe",

  async measure() {
    await using cli = await createRuntime({ config: false, backend: 'cli' });
    await using sandbox = await createRuntime({ config: false, backend: 'sandbox' });
    const bash = pipedBash();
    try {
      const timings = await interleave(
        {
          cli: () => cli.run(':'),
          sandbox: () => sandbox.run(':'),
          'builtin over a pipe': () => bash.run(':'),
        },
        { rounds: 3000, warmup: 300 },
      );
      const goal = { unit: 'ms', better: 'less', bar: 0.2, aim: 0.1 } as const;
      return {
        timings,
        floor: 'builtin over a pipe',
        figures: [
          { name: 'p50 in process', value: timings.cli.p50, ...goal },
          { name: 'p50 in a sandbox', value: timings.sandbox.p50, ...goal },
        ],
      };
    } finally {
      bash.close();
    }
  },
});
