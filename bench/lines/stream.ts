import { spawn } from 'node:child_process';
import { createRuntime } from '../../src/index.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

const mebibyte = 1024 * 1024;
const totalBytes = 1024 * mebibyte;
const argv = ['head', '-c', String(totalBytes), '/dev/zero'] as const;

export default defineLine({
  name: 'stream',
  summary:
    '1 GiB of output of a process to a listener; floor: the same program through a raw child_process pipe',

  async measure() {
    await using runtime = await createRuntime({ config: false, backend: 'cli' });
    let peakGrowthBytes = 0;

    async function throughWorkcell() {
      const before = process.memoryUsage.rss();
      let received = 0;
      const { id } = await runtime.processes.start(argv);
      const { exitCode } = await runtime.processes.wait(id, {
        maxOutputBytes: 4096,
        onOutput: ({ text }) => {
          received += text.length;
          peakGrowthBytes = Math.max(peakGrowthBytes, process.memoryUsage.rss() - before);
        },
      });
      if (exitCode !== 0 || received !== totalBytes)
        throw new Error(`exit ${exitCode} after ${received} bytes`);
    }

    const timings = await interleave(
      { 'processes.wait, onOutput': throughWorkcell, 'raw pipe': throughPipe },
      { rounds: 5, warmup: 1 },
    );
    const share = timings['raw pipe'].p50 / timings['processes.wait, onOutput'].p50;
    return {
      timings,
      floor: 'raw pipe',
      figures: [
        {
          name: 'throughput, share of the floor',
          value: share,
          unit: '×',
          better: 'more',
          bar: 0.25,
          aim: 0.5,
        },
        {
          name: 'growth of resident memory',
          value: peakGrowthBytes / mebibyte,
          unit: 'MiB',
          better: 'less',
          bar: 64,
        },
      ],
    };
  },
});

async function throughPipe(): Promise<void> {
  const [file, ...args] = argv;
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  let received = 0;
  for await (const chunk of child.stdout) received += (chunk as Buffer).length;
  if (received !== totalBytes) throw new Error(`${received} bytes arrived`);
}
