import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRuntime } from '../../src/index.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';
import { startExecutorProcess } from './http/server.js';

const mebibyte = 1024 * 1024;
const totalBytes = 1024 * mebibyte;
const source = `yes 'sixty-three characters of text in a line, as programs print it.' | head -c ${totalBytes}`;

export default defineLine({
  name: 'http-stream',
  summary:
    '1 GiB of output of a process to a listener, through the HTTP server; floor: the same through a raw pipe',

  async measure() {
    await using server = await startExecutorProcess();
    await using runtime = await createRuntime({ backend: 'remote', url: server.url, token: server.token });
    let peakGrowthBytes = 0;

    async function throughServer() {
      const before = resident(server.child.pid);
      let received = 0;
      let pieces = 0;
      const { id } = await runtime.processes.start(source);
      await runtime.processes.wait(id, {
        maxOutputBytes: 4096,
        onOutput: ({ text }) => {
          received += text.length;
          if (pieces++ % 256 === 0)
            peakGrowthBytes = Math.max(peakGrowthBytes, resident(server.child.pid) - before);
        },
      });
      if (received !== totalBytes) throw new Error(`${received} bytes arrived`);
    }

    const timings = await interleave(
      { 'processes.wait, onOutput': throughServer, 'raw pipe': throughPipe },
      { rounds: 3, warmup: 1 },
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
          name: 'growth of the server',
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
  const child = spawn('bash', ['-c', source], { stdio: ['ignore', 'pipe', 'ignore'] });
  let received = 0;
  for await (const chunk of child.stdout) received += (chunk as Buffer).length;
  if (received !== totalBytes) throw new Error(`${received} bytes arrived`);
}

function resident(pid: number | undefined): number {
  return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096;
}
