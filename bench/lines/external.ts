import { createRuntime } from '../../src/index.js';
import { rawSpawn } from '../floors.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

export default defineLine({
  name: 'external',
  summary: "run '/bin/true' in a live shell, in process and in a sandbox; floor: raw spawn('/bin/true')",

  async measure() {
    await using cli = await createRuntime({ config: false, backend: 'cli' });
    await using sandbox = await createRuntime({ config: false, backend: 'sandbox' });
    const timings = await interleave(
      {
        cli: () => cli.run('/bin/true'),
        sandbox: () => sandbox.run('/bin/true'),
        "spawn('/bin/true')": () => rawSpawn('/bin/true'),
      },
      { rounds: 1000, warmup: 100 },
    );
    const ratio = (name: 'cli' | 'sandbox') => timings[name].p50 / timings["spawn('/bin/true')"].p50;
    const goal = { unit: '×', better: 'less', bar: 0.5 } as const;
    return {
      timings,
      floor: "spawn('/bin/true')",
      figures: [
        { name: 'ratio of p50 in process', value: ratio('cli'), ...goal },
        { name: 'ratio of p50 in a sandbox', value: ratio('sandbox'), ...goal },
      ],
    };
  },
});
