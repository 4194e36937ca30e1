/** One gibibyte of a process's output to a listener, beside the same through a raw pipe. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Runtime } from '../src/index.js';
import type { Measured } from './line.js';
import { interleave } from './measure.js';

const mebibyte = 1024 * 1024;
export const streamedBytes = 1024 * mebibyte;

/** How often to look at the size of the process, in pieces of output. */
const lookEvery = 256;

/** `watched`: the process whose memory must not grow. */
export async function measureStream({
  runtime,
  argv,
  watched,
  rounds,
}: {
  readonly runtime: Runtime;
  readonly argv: readonly [string, ...string[]];
  readonly watched: { readonly name: string; readonly pid: number };
  readonly rounds: number;
}): Promise<Measured> {
  let peakGrowthBytes = 0;

  async function throughWorkcell() {
    const before = resident(watched.pid);
    let received = 0;
    let pieces = 0;
    const { id } = await runtime.processes.start(argv);
    const { exitCode } = await runtime.processes.wait(id, {
      maxOutputBytes: 4096,
      onOutput: ({ text }) => {
        received += text.length;
        if (pieces++ % lookEvery === 0)
          peakGrowthBytes = Math.max(peakGrowthBytes, resident(watched.pid) - before);
      },
    });
    if (exitCode !== 0 || received !== streamedBytes)
      throw new Error(`exit ${exitCode} after ${received} bytes`);
  }

  const timings = await interleave(
    { 'processes.wait, onOutput': throughWorkcell, 'raw pipe': () => throughPipe(argv) },
    { rounds, warmup: 1 },
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
        bar: 0.6,
      },
      {
        name: `growth of ${watched.name}`,
        value: peakGrowthBytes / mebibyte,
        unit: 'MiB',
        better: 'less',
        bar: 64,
      },
    ],
  };
}

async function throughPipe([file, ...args]: readonly [string, ...string[]]): Promise<void> {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  let received = 0;
  for await (const chunk of child.stdout) received += (chunk as Buffer).length;
  if (received !== streamedBytes) throw new Error(`${received} bytes arrived`);
}

function resident(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096;
}
