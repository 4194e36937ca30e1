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
    const rate = (name: keyof typeof timings) => Math.round(batch / (timings[name].p50 / 1000));
    const figure = (name: 'one at a time' | 'four at a time') => {
      const bare = timings[`bwrap, ${name}`].p50;
      const share = `${name}, ${rate(name)}/s, share of the floor (${rate(`bwrap, ${name}`)}/s)`;
      const goal = { unit: '×', better: 'more', bar: 0.75, aim: 0.95 } as const;
      return { name: share, value: bare / timings[name].p50, ...goal };
    };
    return {
      timings,
      floor: 'bwrap, four at a time',
      figures: [figure('four at a time'), figure('one at a time')],
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
