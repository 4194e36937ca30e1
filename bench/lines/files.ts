import { readFileSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createRuntime } from '../../src/index.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

const content = 'x'.repeat(4096);

export default defineLine({
  name: 'files',
  summary:
    '4 KiB write + read through the API; floor: the same with node:fs/promises (the synchronous calls beside it)',

  async measure() {
    await using runtime = await createRuntime({ config: false, backend: 'cli' });
    const path = join(runtime.workspace, 'floor');
    const timings = await interleave(
      {
        'write + read': async () => {
          await runtime.write('file', content);
          await runtime.read('file');
        },
        'node:fs/promises': async () => {
          await writeFile(path, content);
          await readFile(path, 'utf8');
        },
        'node:fs, synchronous': () => {
          writeFileSync(path, content);
          readFileSync(path, 'utf8');
        },
      },
      { rounds: 3000, warmup: 300 },
    );
    const ratio = timings['write + read'].p50 / timings['node:fs/promises'].p50;
    return {
      timings,
      floor: 'node:fs/promises',
      figures: [{ name: 'ratio of p50', value: ratio, unit: '×', better: 'less', bar: 4, aim: 1.5 }],
    };
  },
});
