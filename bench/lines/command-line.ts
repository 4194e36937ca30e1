import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rawSpawn } from '../floors.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

const main = fileURLToPath(new URL('../../dist/cli/main.cjs', import.meta.url));

export default defineLine({
  name: 'command-line',
  summary: 'the built command line, a fresh process each; floor: node -e 0',

  async measure() {
    if (!existsSync(main)) throw new Error('This measures the built package: run "npm run build" first.');
    const node = process.execPath;
    const timings = await interleave(
      {
        'workcell run true': () => rawSpawn(node, [main, 'run', 'true']),
        'workcell run --backend cli true': () => rawSpawn(node, [main, 'run', '--backend', 'cli', 'true']),
        'workcell --version': () => rawSpawn(node, [main, '--version']),
        'workcell --help': () => rawSpawn(node, [main, '--help']),
        'node -e 0': () => rawSpawn(node, ['-e', '0']),
      },
      { rounds: 20, warmup: 2 },
    );
    const ratio = (name: keyof typeof timings) => timings[name].p50 / timings['node -e 0'].p50;
    return {
      timings,
      floor: 'node -e 0',
      figures: [
        { name: 'run true', value: ratio('workcell run true'), unit: '×', better: 'less', bar: 2, aim: 1.3 },
        { name: '--version', value: ratio('workcell --version'), unit: '×', better: 'less', bar: 1.2 },
        { name: '--help', value: ratio('workcell --help'), unit: '×', better: 'less', bar: 1.2 },
      ],
    };
  },
});
