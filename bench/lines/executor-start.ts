import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { executorBundle } from '../../src/backends/images/index.js';
import { rawSpawn } from '../floors.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

export default defineLine({
  name: 'executor-start',
  summary: 'the bundled executor from nothing until it listens; floor: the same Node with an empty program',

  async measure() {
    const bundle = await executorBundle();
    const [program = '', ...words] = bundle.command(bundle.directory);
    const scratch = mkdtempSync(join(tmpdir(), 'workcell-bench-'));
    const serve = ['executor', '--listen', `unix:${join(scratch, 's')}`, '--workspace', scratch];
    const timings = await interleave(
      {
        'until it listens': async () => {
          const child = spawn(program, [...words, ...serve], { stdio: ['ignore', 'pipe', 'ignore'] });
          await once(child.stdout, 'data');
          child.kill('SIGKILL');
          await once(child, 'exit');
        },
        'node -e 0': () => rawSpawn(program, [...words.slice(0, -1), '-e', '0']),
      },
      { rounds: 30, warmup: 3 },
    );
    rmSync(scratch, { recursive: true, force: true });
    const ratio = timings['until it listens'].p50 / timings['node -e 0'].p50;
    return {
      timings,
      floor: 'node -e 0',
      figures: [{ name: 'ratio of p50', value: ratio, unit: '×', better: 'less', bar: 4, aim: 2 }],
    };
  },
});
