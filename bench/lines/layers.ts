import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime, type Runtime } from '../../src/index.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';
import { fill } from '../tree.js';

const links = 10;

/** Lists and reads a thousand files, changes a hundred and removes as many new ones. */
const work = `find . -type f | wc -l >/dev/null; cat d?/* | wc -c >/dev/null
for i in {0..99}; do echo changed > d1/f$i; echo x > d2/new$i; done; rm d2/new*`;

export default defineLine({
  name: 'layers',
  summary: `file work in the last of ${links} forks, each a fork of the one before; floor: the same on a copy without layers`,

  async measure() {
    const root = mkdtempSync(join(tmpdir(), 'bench-layers-'));
    const from = join(root, 'tree');
    fill(from, 10_000);
    const open = (mode: 'overlay' | 'copy') =>
      createRuntime({ config: false, backend: 'sandbox', workspace: { from, mode }, plugins: [] });
    const chain: Runtime[] = [await open('overlay')];
    try {
      await using plain = await open('copy');
      await using single = await open('overlay');
      for (let link = 0; link < links; link++) {
        const last = chain.at(-1) as Runtime;
        await last.run(`echo ${link} > d${link}/state; rm d${link}/f9`);
        chain.push(...(await last.fork()));
      }
      const last = chain.at(-1) as Runtime;
      const timings = await interleave(
        {
          'last of the chain': () => last.run(work),
          'a copy': () => plain.run(work),
          'one overlay': () => single.run(work),
        },
        { rounds: 60, warmup: 5 },
      );
      const over = (name: 'a copy' | 'one overlay') => timings['last of the chain'].p50 / timings[name].p50;
      const goal = { unit: '×', better: 'less', bar: 1.05 } as const;
      return {
        timings,
        floor: 'a copy',
        figures: [
          { name: 'the chain next to a copy', value: over('a copy'), ...goal },
          { name: 'the chain next to one overlay', value: over('one overlay'), ...goal },
        ],
      };
    } finally {
      await Promise.all(chain.map((runtime) => runtime.close()));
      rmSync(root, { recursive: true, force: true });
    }
  },
});
