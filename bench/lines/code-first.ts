import { createRuntime, type Runtime } from '../../src/index.js';
import { rawSpawn } from '../floors.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

const floor = "python3 -c 'pass'";

export default defineLine({
  name: 'code-first',
  summary: 'the first cell of a context, from a kernel that waits; floor: starting Python itself',

  async measure() {
    await using runtime = await createRuntime({
      config: false,
      backend: 'sandbox',
      plugins: [{ name: 'jupyter', options: { spare: 1 } }],
    });
    let count = 0;
    const timings = await interleave(
      {
        'a kernel gets ready': () => spareKernel(runtime),
        'first cell': () => runtime.runCode('1+1', { context: `c${++count}` }),
        [floor]: () => rawSpawn('/usr/bin/python3', ['-c', 'pass']),
        close: () => runtime.execute({ action: 'control_context', operation: 'close', context: `c${count}` }),
      },
      { rounds: 30, warmup: 2 },
    );
    const { p50 } = timings['first cell'] as { p50: number };
    return { timings, floor, figures: [{ name: 'p50', value: p50, unit: 'ms', better: 'less', bar: 60 }] };
  },
});

/** Settles when a kernel waits. */
async function spareKernel(runtime: Runtime): Promise<void> {
  while ((await runtime.execute({ action: 'list_contexts' })).spare === 0)
    await new Promise((resolve) => setTimeout(resolve, 20));
}
