import { spawn } from 'node:child_process';
import { createRuntime } from '../../src/index.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

const mebibyte = 1024 * 1024;
const totalBytes = 100 * mebibyte;
const program = 'line = "x" * 1023\nfor _ in range(100 * 1024): print(line)';
const floor = 'the same through a raw pipe';

export default defineLine({
  name: 'code-prints',
  summary:
    '100 MiB of prints in a cell, with a listener; floor: the same program with its output in a raw pipe',

  async measure() {
    await using runtime = await createRuntime({ config: false, backend: 'sandbox' });
    await runtime.runCode('pass');
    let growthBytes = 0;

    async function inCell(): Promise<void> {
      const before = process.memoryUsage.rss();
      let received = 0;
      const { status } = await runtime.runCode(program, {
        onOutput: ({ text }) => {
          received += text.length;
          growthBytes = Math.max(growthBytes, process.memoryUsage.rss() - before);
        },
      });
      if (status !== 'ok' || received !== totalBytes) throw new Error(`${status} after ${received} bytes`);
    }

    const timings = await interleave({ 'in a cell': inCell, [floor]: throughPipe }, { rounds: 5, warmup: 1 });
    return {
      timings,
      floor,
      figures: [
        {
          name: 'growth of resident memory',
          value: growthBytes / mebibyte,
          unit: 'MiB',
          better: 'less',
          bar: 64,
        },
      ],
    };
  },
});

async function throughPipe(): Promise<void> {
  const child = spawn('/usr/bin/python3', ['-c', program], { stdio: ['ignore', 'pipe', 'ignore'] });
  let received = 0;
  for await (const chunk of child.stdout) received += (chunk as Buffer).length;
  if (received !== totalBytes) throw new Error(`${received} bytes arrived`);
}
