/** Code that speaks in the name of its kernel: its messages, its sockets, its end. */
import { readFileSync } from 'node:fs';
import type { Round } from '../cell.js';
import type { Surface } from './surface.js';

const source = readFileSync(new URL('../generators/kernel.py', import.meta.url), 'utf8');

/** An interrupt comes first, and then the end of the kernel. */
const timeoutMs = 4000;

export const kernel: Surface = {
  backends: ['sandbox', 'docker'],
  mostBytes: 384 << 20,

  async warmUp({ runtime }) {
    await runtime.runCode('from IPython.display import HTML, display\ndisplay(HTML("x")); print("y"); 1');
    await runtime.runCode('1 / 0');
    for (const seed of [1, 2]) await runtime.runCode(`seed = ${seed}\n${source}`, { timeoutMs });
  },

  async round(round) {
    const { runtime, seed, random, answered, claim } = round;
    const told = await answered('run_code', timeoutMs, (signal) =>
      runtime.runCode(`seed = ${seed}\n${source}`, {
        timeoutMs,
        signal,
        ...(random.chance(0.3) && { saveMedia: 'media' }),
        ...(random.chance(0.3) && { maxOutputBytes: 256, maxMediaBytes: random.pick([0, 1000]) }),
      }),
    );
    claim(told === undefined || told.outputs.length < 20_000, `${told?.outputs.length} outputs were told`);
    await answered('list_contexts', 5000, (signal) =>
      runtime.execute({ action: 'list_contexts' }, { signal }),
    );
    await expectHonestKernel(round);
  },
};

/** In a context without an attack: a failure is reported as one, however much it says. */
async function expectHonestKernel({ runtime, random, answered, claim }: Round): Promise<void> {
  const length = random.pick([1, 1000, 30_000_000]);
  const failed = await answered('a failing code cell', 30_000, (signal) =>
    runtime.runCode(`raise ValueError("v" * ${length})`, { context: 'honest', timeoutMs: 30_000, signal }),
  );
  claim(
    failed?.status === 'error',
    `code that raised an error of ${length} characters was told as ${failed?.status}`,
  );
}
