import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime } from '../../src/index.js';
import { rawSpawn } from '../floors.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';
import { fill } from '../tree.js';

const files = 100_000;
/** One file in so many has the word, and the name. */
const rare = 10_000;

export default defineLine({
  name: 'search',
  summary: `a rare word, and rare names, in a tree of ${files} files in a sandbox; floor: rg on the same tree`,

  async measure() {
    const workspace = mkdtempSync(join(tmpdir(), 'bench-search-'));
    fill(workspace, files, (index) =>
      index % rare === 0 ? ['.rare', 'a needle\n'] : ['.txt', 'some hay\n'],
    );
    try {
      await using runtime = await createRuntime({ config: false, backend: 'sandbox', workspace });
      const expectAll = (found: readonly unknown[]) => {
        if (found.length !== files / rare) throw new Error(`found ${found.length}`);
      };
      const timings = await interleave(
        {
          grep: async () => expectAll(await runtime.files.grep('needle')),
          rg: () => rawSpawn('rg', ['--line-number', 'needle', workspace]),
          glob: async () => expectAll(await runtime.files.glob('**/*.rare')),
          'rg --files': () => rawSpawn('rg', ['--files', '--glob', '*.rare', workspace]),
        },
        { rounds: 10, warmup: 2 },
      );
      const goal = { unit: '×', better: 'less', bar: 2 } as const;
      return {
        timings,
        floor: 'rg',
        figures: [
          { name: 'grep, ratio of p50', value: timings.grep.p50 / timings.rg.p50, ...goal },
          { name: 'glob, ratio of p50', value: timings.glob.p50 / timings['rg --files'].p50, ...goal },
        ],
      };
    } finally {
      rmSync(workspace, { recursive: true, force: true });
    }
  },
});
