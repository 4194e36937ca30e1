import { createRuntime } from '../../src/index.js';
import { bareBubblewrap } from '../floors.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

const batch = 100;

export default defineLine({
  name: 'sandbox-churn',
  summary: `create + run + destroy, ${batch} times; floor: bubblewrap alone as often, as many at once`,

  async measure() {
    const timings = await interleave(
      {
        'one at a time': () => times(cycle, 1),
        'four at a time': () => times(cycle, 4),
        'bwrap, one at a time': () => times(bareBubblewrap, 1),
        'bwrap, four at a time': () => times(bareBubblewrap, 4),
      },
      { rounds: 5, warmup: 1 },
    );
    const rate = (name: keyof typeof timings) => batch / (timings[name].p50 / 1000);
    const goal = { unit: '/s', better: 'more', bar: 100, aim: 400 } as const;
    return {
      timings,
      floor: 'bwrap, four at a time',
      figures: [
        {
          name: `four at a time (bwrap alone ${Math.round(rate('bwrap, four at a time'))}/s)`,
          value: rate('four at a time'),
          ...goal,
        },
        {
          name: `one at a time (bwrap alone ${Math.round(rate('bwrap, one at a time'))}/s)`,
          value: rate('one at a time'),
          ...goal,
        },
      ],
    };
  },
});

async function cycle(): Promise<void> {
  await using runtime = await createRuntime({ backend: 'sandbox', config: false });
  const { exitCode } = await runtime.run('true');
  if (exitCode !== 0) throw new Error(`the command exited with ${exitCode}`);
}

async function times(work: () => Promise<void>, atOnce: number): Promise<void> {
  let left = batch;
  const worker = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
