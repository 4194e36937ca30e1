import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime, type Runtime } from '../../src/index.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

const files = 100_000;

export default defineLine({
  name: 'checkpoints',
  summary: `checkpoint, rewind and fork with ${files} files in the workspace and a few changes; floor: a copy of a tenth of it`,

  async measure() {
    const root = mkdtempSync(join(tmpdir(), 'bench-checkpoints-'));
    const small = join(root, 'tenth');
    const large = join(root, 'whole');
    fill(small, files / 10);
    fill(large, files);
    const open = (from: string) =>
      createRuntime({ config: false, backend: 'sandbox', workspace: { from, mode: 'overlay' }, plugins: [] });
    await using runtime = await open(large);
    await using tenth = await open(small);
    for (const one of [runtime, tenth]) await one.run('for i in 1 2 3; do echo x > d$i/new; rm d$i/f1; done');
    const first = await runtime.checkpoint();
    let forks: Runtime[] = [];
    let count = 0;
    try {
      const timings = await interleave(
        {
          // First, so that the disk work of the floor does not fall on what is measured.
          'after the floor': () => tenth.diff(),
          'checkpoint, a tenth of the files': () => tenth.checkpoint(),
          checkpoint: () => runtime.checkpoint(),
          diff: () => runtime.diff(),
          change: () => runtime.run(`echo ${count++} > d5/state`),
          rewind: () => runtime.rewind(first),
          'fork to an answer': async () => {
            forks = await runtime.fork({ from: first });
            await forks[0]?.run(':');
          },
          'close a fork': () => forks[0]?.close(),
          'ten forks to an answer': async () => {
            forks = await runtime.fork({ count: 10, from: first });
            await Promise.all(forks.map((fork) => fork.run(':')));
          },
          'close ten forks': () => Promise.all(forks.map((fork) => fork.close())),
          'cp -a of a tenth': () => execFileSync('cp', ['-a', small, join(root, 'copy')]),
          'rm of the copy': () => rmSync(join(root, 'copy'), { recursive: true }),
        },
        { rounds: 10, warmup: 2 },
      );
      const flat = timings.checkpoint.p50 / timings['checkpoint, a tenth of the files'].p50;
      return {
        timings,
        floor: 'cp -a of a tenth',
        figures: [
          { name: 'checkpoint', value: timings.checkpoint.p50, unit: 'ms', better: 'less', bar: 10, aim: 3 },
          { name: 'rewind', value: timings.rewind.p50, unit: 'ms', better: 'less', bar: 30 },
          {
            name: 'fork to an answer',
            value: timings['fork to an answer'].p50,
            unit: 'ms',
            better: 'less',
            bar: 15,
            aim: 5,
          },
          {
            name: 'ten forks',
            value: timings['ten forks to an answer'].p50,
            unit: 'ms',
            better: 'less',
            bar: 60,
          },
          { name: 'ten times the files', value: flat, unit: '×', better: 'less', bar: 1.5 },
        ],
      };
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  },
});

function fill(path: string, count: number): void {
  for (let directory = 0; directory < 100; directory++) {
    mkdirSync(join(path, `d${directory}`), { recursive: true });
    for (let file = 0; file < count / 100; file++)
      writeFileSync(join(path, `d${directory}`, `f${file}`), 'content');
  }
}
