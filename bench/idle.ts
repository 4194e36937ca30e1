/** Idle sandboxes held at once: what each costs, and whether all of them still answer. */
import { readdirSync, readFileSync } from 'node:fs';
import { createRuntime, type Runtime } from '../src/index.js';
import { defineLine, type Line, type Measured } from './line.js';
import { interleave } from './measure.js';
import { availableBytes, descendants, mebibyte, proportionalBytes } from './memory.js';

const atOnce = 8;
/** MiB; also what must be free for each before it begins. */
const mostEach = 1.5;
const processesEach = 4;

export function idleLine(name: string, held: number): Line {
  return defineLine({
    name,
    summary: `${held} idle sandboxes held, each with its shell; memory of their processes and of this one, for each`,
    measure: () => measureIdle(held),
  });
}

async function measureIdle(held: number): Promise<Measured> {
  expectRoom(held);
  const runtimes: Runtime[] = [];
  const before = { own: proportionalBytes(process.pid), available: availableBytes() };
  try {
    const created = await interleave(
      {
        [`create, ${atOnce} at a time`]: () =>
          inParallel(atOnce, async () => void runtimes.push(await start())),
      },
      { rounds: held / atOnce, warmup: 0 },
    );
    const taken = before.available - availableBytes();
    const growth = Math.max(0, proportionalBytes(process.pid) - before.own);
    const inCells = descendants(process.pid).reduce((sum, pid) => sum + proportionalBytes(pid), 0);
    let answered = 0;
    const answers = await interleave(
      {
        'run, in turn': async () => {
          const { exitCode } = (await runtimes[answered]?.run('/bin/true')) ?? {};
          if (exitCode === 0) answered++;
        },
      },
      { rounds: held, warmup: 0 },
    );
    const each = (bytes: number) => bytes / held / mebibyte;
    const goal = { unit: 'MiB', better: 'less', bar: mostEach } as const;
    return {
      timings: { ...answers, ...created },
      floor: 'run, in turn',
      figures: [
        {
          name: `processes of each, and ${each(growth).toFixed(2)} MiB in this one:`,
          value: each(inCells + growth),
          ...goal,
        },
        // What the kernel needs for namespaces, mounts and control groups is in none of the processes.
        { name: 'memory that the machine has less, for each:', value: each(taken), ...goal },
        { name: 'sandboxes that still answer', value: answered, unit: '', better: 'more', bar: held },
      ],
    };
  } finally {
    await inParallel(runtimes.length, async (index) => runtimes[index]?.close());
  }
}

/** Better than to take the memory, or the last process, from everybody on the machine. */
function expectRoom(held: number): void {
  const room = Math.floor(availableBytes() / (mostEach * mebibyte));
  if (room < held)
    throw new Error(`There is memory for ${room} sandboxes of ${mostEach} MiB here, and not for ${held}.`);
  const most = Number(readFileSync('/proc/sys/kernel/pid_max', 'latin1'));
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length;
  if (most - processes < held * processesEach)
    throw new Error(
      `${held} sandboxes have ${held * processesEach} processes, and kernel.pid_max is ${most}: raise it with sysctl.`,
    );
}

async function start(): Promise<Runtime> {
  const runtime = await createRuntime({ backend: 'sandbox', config: false });
  await runtime.run('true');
  return runtime;
}

async function inParallel(times: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < times) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
