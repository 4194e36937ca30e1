import { createRuntime } from '../../src/index.js';
import { watchLoop } from '../../test/fuzz/loop-watch.js';
import { defineLine } from '../line.js';
import { interleave } from '../measure.js';

const flood = `python3 -c 'import sys; sys.stdout.write("x" * 200000 + "\\x1b[1K" * 40000 + "\\r" + "\\x1b[P" * 40000)'`;
const prepare = `
head -c 16000000 /dev/zero | tr '\\0' '\\n' >lines; echo end >>lines
mkdir many; cd many; seq 20000 | xargs touch; cd ..
git init -q repository; cd repository; seq 20000 | xargs touch; cd ..`;

export default defineLine({
  name: 'stall',
  summary:
    "how long the owner's event loop stands still while a cell is hostile, in the middle of the rounds; floor: an honest command",

  async measure() {
    await using runtime = await createRuntime({ config: false, backend: 'sandbox' });
    await runtime.run(prepare, { timeoutMs: 60_000 });
    const stalls = new Map<string, number[]>();
    const watch = await watchLoop();
    const subjects: Record<string, () => Promise<unknown>> = {
      'honest command': () => runtime.run('true'),
      'control sequences': () => runtime.run(flood),
      'edit in 16 MB of line ends': async () => {
        await runtime.edit('lines', { oldText: 'end', newText: 'fin' });
        await runtime.edit('lines', { undo: true });
      },
      'read of 16 MB of line ends': () => runtime.read('lines', { maxBytes: 1 << 25 }),
      'list of 20,000 names': () => runtime.files.list('many', { limit: 100_000 }),
      'status of 20,000 new files': () => runtime.git.at('repository').status(),
      '8 MiB of control characters': async () => {
        const { id } = await runtime.processes.start([
          'sh',
          '-c',
          `head -c 8388608 /dev/zero | tr '\\0' '\\1'`,
        ]);
        await runtime.processes.wait(id);
      },
    };
    const watched = Object.fromEntries(
      Object.entries(subjects).map(([name, subject]) => [
        name,
        async () => {
          watch.take();
          await subject();
          stalls.set(name, [...(stalls.get(name) ?? []), watch.take().stallMs]);
        },
      ]),
    );
    try {
      const timings = await interleave(watched, { rounds: 9, warmup: 2 });
      return {
        timings,
        floor: 'honest command',
        figures: [...stalls].map(([name, seen]) => ({
          name: `stall by ${name}`,
          value: seen.sort((a, b) => a - b)[seen.length >> 1] as number,
          unit: 'ms' as const,
          better: 'less' as const,
          bar: 100,
          aim: 20,
        })),
      };
    } finally {
      await watch.close();
    }
  },
});
