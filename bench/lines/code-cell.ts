import { createRuntime } from '../../src/index.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';
import { startRawKernel } from '../raw-kernel.js';

const floor = 'the same over raw zeromq';

export default defineLine({
  name: 'code-cell',
  summary:
    'a cell 1+1 in a running Python kernel in a sandbox; floor: the same message over the ZeroMQ library',

  async measure() {
    await using runtime = await createRuntime({ config: false, backend: 'sandbox' });
    await runtime.runCode('pass');
    const raw = await startRawKernel();
    try {
      const timings = await interleave(
        { runCode: () => runtime.runCode('1+1'), [floor]: () => raw.run('1+1') },
        { rounds: 300, warmup: 30 },
      );
      const { p50 } = timings.runCode as { p50: number };
      return {
        timings,
        floor,
        figures: [
          { name: 'p50', value: p50, unit: 'ms', better: 'less', bar: 5 },
          {
            name: 'p50, ratio to the floor',
            value: p50 / (timings[floor]?.p50 ?? Number.NaN),
            unit: '×',
            better: 'less',
            bar: 1.5,
          },
        ],
      };
    } finally {
      raw.close();
    }
  },
});
