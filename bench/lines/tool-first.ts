import { createRuntime, type Runtime } from '../../src/index.js';
import { mathToolkit } from '../../src/runtime/tools/toolkits/math-toolkit.js';
import { rawSpawn } from '../floors.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

export default defineLine({
  name: 'tool-first',
  summary: 'add and first call of a toolkit in a fresh sandbox; floor: node that starts and ends',

  async measure() {
    const fresh: Runtime[] = [];
    const rounds = 30;
    const warmup = 3;
    for (let count = 0; count < rounds + warmup; count++)
      fresh.push(await createRuntime({ config: false, backend: 'sandbox' }));
    const used: Runtime[] = [];
    const first = async () => {
      const runtime = fresh.pop();
      if (runtime === undefined) throw new Error('no sandbox is left');
      used.push(runtime);
      const [add] = runtime.add(mathToolkit(), 'workcell/toolkits/math').getTools();
      await add?.execute({ a: 1, b: 2 });
    };
    try {
      const timings = await interleave(
        { 'add and first call': first, 'bare node': () => rawSpawn(process.execPath, ['-e', '0']) },
        { rounds, warmup },
      );
      const { p50 } = timings['add and first call'];
      return {
        timings,
        floor: 'bare node',
        figures: [{ name: 'p50', value: p50, unit: 'ms', better: 'less', bar: 150 }],
      };
    } finally {
      await Promise.all([...fresh, ...used].map((runtime) => runtime.close()));
    }
  },
});
