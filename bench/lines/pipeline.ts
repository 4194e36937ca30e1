import { actions, type Cell, type Executor } from '../../src/protocol/index.js';
import { storeAccess } from '../../src/runtime/events/open.js';
import { EventStream } from '../../src/runtime/events/stream.js';
import { Runtime } from '../../src/runtime/runtime.js';
import { rules } from '../../src/runtime/security/index.js';
import { createTrusted } from '../../src/runtime/security/trusted.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

export default defineLine({
  name: 'pipeline',
  summary:
    'the way of one action with policy, rules, masking and the store on, its execution left out; floor: with none of them',

  async measure() {
    const trusted = await createTrusted({
      who: 'bench',
      policy: { rules: [{ decision: 'deny', command: 'git push *' }] },
      guards: [rules()],
      secrets: { TOKEN: { value: 'a-secret-value-of-some-length', reach: 'env' } },
    });
    const events = new EventStream('full', { store: storeAccess({}) });
    await events.open();
    await using full = new Runtime({ cell: answering(), events, ...trusted });
    await using bare = new Runtime({ cell: answering(), events: new EventStream('bare') });
    const command = 'cd packages/core && npm test -- --reporter=dot 2>&1 | tail -20';
    const timings = await interleave(
      { 'all of it': () => full.run(command), 'bare pipeline': () => bare.run(command) },
      { rounds: 3000, warmup: 300 },
    );
    const over = timings['all of it'].p50 - timings['bare pipeline'].p50;
    return {
      timings,
      floor: 'bare pipeline',
      figures: [
        { name: 'p50 above the floor', value: over, unit: 'ms', better: 'less', bar: 0.3, aim: 0.15 },
      ],
    };
  },
});

/** A cell whose executor has the answer ready, so that we measure only the pipeline. */
function answering(): Cell {
  const observation = {
    observation: 'run',
    command: '',
    output: 'ok\n'.repeat(100),
    exitCode: 0,
    signal: null,
  };
  const executor = { actions, execute: async () => observation } as unknown as Executor;
  const isolation = { tier: 'none' } as unknown as Cell['isolation'];
  return { id: 'bench', backend: 'cli', workspace: '/work', isolation, executor, stop: async () => {} };
}
