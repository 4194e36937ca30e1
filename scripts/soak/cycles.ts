/** Makes, uses and ends sandboxes in this process, again and again, and compares what it holds then with before. */
import { readdirSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ownedPrefix } from '../../src/cell/launchers/scratch.js';
import { createRuntime, type Runtime } from '../../src/index.js';
import { count, type Scope } from './count.js';
import { type Report, rowsOf, settle, tellProgress } from './report.js';

const mebibyte = 1024 * 1024;
const atOnce = 4;
/** After these, everything that we create once and keep exists. */
const warmup = 40;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** `directory` is the temporary directory of this process. */
export async function soakCycles(options: { directory: string; cycles: number }): Promise<Report> {
  const { directory, cycles } = options;
  const scope: Scope = { directory, owners: new Set([ownedPrefix()]) };
  await repeat(warmup);
  const before = use(scope);
  const start = performance.now();
  await repeat(cycles);
  const seconds = (performance.now() - start) / 1000;
  const title = `${cycles} cycles, ${atOnce} at a time, in ${seconds.toFixed(0)} s (${(cycles / seconds).toFixed(0)}/s)`;
  return settle(() => {
    const after = use(scope);
    return {
      title,
      rows: [
        ...rowsOf(before.counts, after.counts),
        { name: 'descriptors', before: before.descriptors, after: after.descriptors, slack: 0 },
        { name: 'heap, MiB', before: before.heapMiB, after: after.heapMiB, slack: 16 },
        { name: 'resident, MiB', before: before.residentMiB, after: after.residentMiB, slack: 96 },
      ],
    };
  });
}

function use(scope: Scope) {
  collectGarbage();
  const { heapUsed, rss } = process.memoryUsage();
  return {
    counts: count(scope),
    descriptors: readdirSync('/proc/self/fd').length,
    heapMiB: heapUsed / mebibyte,
    residentMiB: rss / mebibyte,
  };
}

async function repeat(times: number): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < times) {
      tellProgress(next, times, 'cycles');
      await cycle(next++);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

async function cycle(index: number): Promise<void> {
  await using runtime = await createRuntime({ backend: 'sandbox', config: false });
  await (works[index % works.length] ?? answers)(runtime);
}

type Work = (runtime: Runtime) => Promise<unknown>;

const answers: Work = async (runtime) => {
  const { output, exitCode } = await runtime.run('echo here');
  if (output !== 'here\n' || exitCode !== 0) throw new Error(`exit code ${exitCode}, output ${output}`);
};

/** What a cell can be full of when it ends. Half of them are plain. */
const works: readonly Work[] = [
  answers,
  (runtime) => runtime.run('sleep 1000 & setsid sleep 1000 & disown -a'),
  answers,
  (runtime) => runtime.processes.start(['sleep', '1000']),
  answers,
  (runtime) =>
    Promise.all([runtime.run('true', { session: 'one' }), runtime.run('true', { session: 'two' })]),
  answers,
  (runtime) => runtime.terminals.open(),
  answers,
  async (runtime) => {
    await runtime.write('a/b/c', 'text');
    await runtime.run('dd if=/dev/zero of=/tmp/zeros bs=64K count=16 status=none; mkfifo pipe; cat pipe', {
      timeoutMs: 20,
    });
  },
];
