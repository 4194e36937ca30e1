import { createRuntime } from '../../src/index.js';
import { rawSpawn } from '../floors.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

export default defineLine({
  name: 'sandbox-external',
  summary: "run '/bin/true' in a live shell of a sandbox; floor: raw spawn('/bin/true')",

  async measure() {
    await using runtime = await createRuntime({ config: false, backend: 'sandbox' });
    const timings = await interleave(
      {
        "run '/bin/true'": () => runtime.run('/bin/true'),
        "spawn('/bin/true')": () => rawSpawn('/bin/true'),
      },
      { rounds: 1000, warmup: 100 },
    );
    const ratio = timings["run '/bin/true'"].p50 / timings["spawn('/bin/true')"].p50;
    return {
      timings,
      floor: "spawn('/bin/true')",
      figures: [{ name: 'ratio of p50', value: ratio, unit: '×', better: 'less', bar: 1.1, aim: 0.8 }],
    };
  },
});
