import { setTimeout as delay } from 'node:timers/promises';
import { fillServers } from '../../src/backends/local/warm.js';
import { createRuntime, type Runtime } from '../../src/index.js';
import { rawSpawn } from '../floors.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

/** A server says nothing while it waits; by then it does, on any machine. */
const startMs = 1500;

export default defineLine({
  name: 'local-warm',
  summary:
    "a local cell to its first command answered, with a server that waits and without; floor: raw spawn('/bin/true')",

  async measure() {
    let runtime: Runtime | undefined;
    const start = async () => {
      runtime = await createRuntime({ backend: 'local', config: false });
      await runtime.run('true');
    };
    const close = () => runtime?.close();
    const timings = await interleave(
      {
        'with a server that waits': start,
        'end of the first': close,
        'without one': start,
        'end of the second': close,
        "spawn('/bin/true')": () => rawSpawn('/bin/true'),
        'start of a server ahead': async () => {
          fillServers(1);
          await delay(startMs);
        },
      },
      { rounds: 20, warmup: 2 },
    );
    const gain = timings['without one'].p50 / timings['with a server that waits'].p50;
    return {
      timings,
      floor: "spawn('/bin/true')",
      figures: [{ name: 'gain', value: gain, unit: '×', better: 'more', bar: 1.5, aim: 2 }],
    };
  },
});
