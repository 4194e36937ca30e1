import { createRuntime, type Runtime } from '../../src/index.js';
import { bareBubblewrap } from '../floors.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

export default defineLine({
  name: 'sandbox-cold',
  summary:
    'a sandbox from nothing to its first command answered; floor: bubblewrap alone, same namespaces, bash -c true',

  async measure() {
    let runtime: Runtime | undefined;
    const timings = await interleave(
      {
        'create + first command': async () => {
          runtime = await createRuntime({ backend: 'sandbox', config: false });
          await runtime.run('true');
        },
        'bwrap … bash -c true': bareBubblewrap,
        close: () => runtime?.close(),
      },
      { rounds: 150, warmup: 15 },
    );
    const ratio = timings['create + first command'].p50 / timings['bwrap … bash -c true'].p50;
    return {
      timings,
      floor: 'bwrap … bash -c true',
      figures: [{ name: 'ratio of p50', value: ratio, unit: '×', better: 'less', bar: 1.4, aim: 1.3 }],
    };
  },
});
