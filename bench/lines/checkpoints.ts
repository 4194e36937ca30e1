import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Checkpoint, createRuntime, type Runtime } from '../../src/index.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';
import { fill, fillWithNames } from '../tree.js';

const files = 100_000;

export default defineLine({
  name: 'checkpoints',
  summary: `checkpoint, rewind and fork with ${files} files in the workspace and a few changes; floor: a copy of a hundredth of it`,

  async measure() {
    const root = mkdtempSync(join(tmpdir(), 'bench-checkpoints-'));
    const small = join(root, 'tenth');
    const large = join(root, 'whole');
    const little = join(root, 'hundredth');
    fill(small, files / 10);
    fill(little, files / 100);
    fillWithNames(large, files, small, files / 10);
    const open = (from: string) =>
      createRuntime({ config: false, backend: 'sandbox', workspace: { from, mode: 'overlay' }, plugins: [] });
    await using runtime = await open(large);
    await using tenth = await open(small);
    await using changed = await open(large);
    for (const one of [runtime, tenth])
      await one.run('for i in {1..5}; do echo x > d$i/new; rm d$i/f1; done');
    await changed.run('for i in {1..500}; do echo x > d7/new$i; rm d8/f$i; done');
    await changed.checkpoint();
    const first = await runtime.checkpoint();
    const firstOfTenth = await tenth.checkpoint();
    const forkOf = async (one: Runtime, from: Checkpoint) => {
      forks = await one.fork({ from });
      await forks[0]?.run(':');
    };
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
          'diff, a tenth of the files': () => tenth.diff(),
          'diff, 1,000 changes': () => changed.diff(),
          change: () => runtime.run(`echo ${count++} > d5/new`),
          rewind: () => runtime.rewind(first),
          'change, a tenth of the files': () => tenth.run(`echo ${count++} > d5/new`),
          'rewind, a tenth of the files': () => tenth.rewind(firstOfTenth),
          'fork to an answer': () => forkOf(runtime, first),
          'close a fork': () => forks[0]?.close(),
          'fork to an answer, a tenth of the files': () => forkOf(tenth, firstOfTenth),
          'close that fork': () => forks[0]?.close(),
          'ten forks to an answer': async () => {
            forks = await runtime.fork({ count: 10, from: first });
            await Promise.all(forks.map((fork) => fork.run(':')));
          },
          'close ten forks': () => Promise.all(forks.map((fork) => fork.close())),
          'cp -a of a hundredth': () => execFileSync('cp', ['-a', little, join(root, 'copy')]),
          'rm of the copy': () => rmSync(join(root, 'copy'), { recursive: true }),
        },
        { rounds: 10, warmup: 2 },
      );
      const flat = (name: 'checkpoint' | 'rewind' | 'diff' | 'fork to an answer') => ({
        name: `${name}, ten times the files`,
        value: timings[name].p50 / timings[`${name}, a tenth of the files`].p50,
        unit: '×' as const,
        better: 'less' as const,
        bar: 1.5,
      });
      return {
        timings,
        floor: 'cp -a of a hundredth',
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
          ...(['checkpoint', 'rewind', 'diff', 'fork to an answer'] as const).map(flat),
          {
            name: 'diff, 1,000 changes in place of 10',
            value: timings['diff, 1,000 changes'].p50 / timings.diff.p50,
            unit: '×',
            better: 'less',
            bar: 100,
          },
        ],
      };
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  },
});
