/** What a cell prints, sends or creates in order to stop or end the process that owns it. */
import type { Runtime } from '../../../index.js';
import { type AbuseCase, demand } from '../case.js';
import { permitted, run, stillWorks } from '../inside.js';

/**
 * This process may stall this long. The bar is a tenth of it, and the fuzzer holds it after a round in which all code has loaded, and
 * without the time that the machine gives to others. An attack counts both, so that it tells a freeze on any machine and
 * nothing else.
 */
const longestStallMs = 1000;

/** Does something, and demands that this process continued with other work meanwhile. */
async function whileAlive<Result>(work: Promise<Result>): Promise<Result> {
  let last = performance.now();
  let longest = 0;
  const ticking = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 5);
  try {
    return await work;
  } finally {
    clearInterval(ticking);
    longest = Math.max(longest, performance.now() - last);
    demand(longest < longestStallMs, `this process stood still for ${Math.round(longest)} ms`);
  }
}

async function prints(runtime: Runtime, command: string): Promise<string> {
  const { output, endedBy } = await whileAlive(run(runtime, command));
  demand(endedBy === 'exit', `it ended by ${endedBy}`);
  demand(output.length < 100_000, `the answer has ${output.length} characters`);
  return `answered with ${output.length} characters`;
}

export const ownerCases: readonly AbuseCase[] = [
  {
    id: '80.huge-numbers',
    title: 'control sequences that move, scroll, insert and repeat without measure',
    expected: 'bounded',
    attack(runtime) {
      const sequences = [...'CBDAGHdISTLMPX@b'].map((final) => `\\e[2147483647${final}x`).join('');
      return prints(runtime, `printf '\\e[999999999CX'; for i in $(seq 200); do printf '${sequences}'; done`);
    },
    neighbour: stillWorks,
  },
  {
    id: '81.many-sequences',
    title: 'hundreds of thousands of short control sequences on one line and on one screen',
    expected: 'bounded',
    needs: ['python3'],
    attack(runtime) {
      const line = `"x" * 200000 + "\\x1b[1K" * 40000 + "\\r" + "\\x1b[P" * 40000 + "\\x1b\\x01" * 40000`;
      const screen = `"\\x1b[H" + "\\x1b[L\\x1b[2J\\n" * 40000`;
      return prints(runtime, `python3 -c 'import sys; sys.stdout.write(${line} + "\\n" + ${screen})'`);
    },
    neighbour: stillWorks,
  },
  {
    id: '82.full-pipe',
    title: 'the pipe that commands come through filled while one runs',
    expected: 'contained',
    needs: ['python3'],
    async attack(runtime) {
      const fill = `
import os
for top, below, names in os.walk("/"):
    if top in ("/", "/run"): below[:] = [name for name in below if name not in ("proc", "sys", "usr")]
    for name in names:
        path = os.path.join(top, name)
        if not name.endswith(".pipe"): continue
        try:
            pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
            while True: os.write(pipe, b"x" * 4096)
        except OSError: pass
print("done")`;
      const { endedBy } = await whileAlive(
        run(runtime, `python3 -c '${fill}'; kill -INT $$; sleep 1`, { timeoutMs: 20_000 }),
      );
      const next = await whileAlive(run(runtime, 'echo next'));
      return `ended by ${endedBy}, the next command by ${next.endedBy}`;
    },
    neighbour: stillWorks,
  },
  {
    id: '83.names',
    title: 'a directory of up to 50,000 names, listed, searched and removed',
    expected: 'bounded',
    needs: ['python3'],
    async attack(runtime) {
      await permitted(
        runtime,
        // As many as it can make in time: some kernels are slow at it.
        `mkdir many && cd many && timeout 20 python3 -c 'for i in range(50000): open(str(i), "w").close()'; cd ..`,
        { timeoutMs: 60_000 },
      );
      const entries = await whileAlive(runtime.files.list('many', { limit: 10 }));
      await whileAlive(runtime.files.glob('many/none*'));
      await whileAlive(runtime.files.remove('many', { recursive: true }));
      return `listed ${entries.length} of them`;
    },
    neighbour: stillWorks,
  },
  {
    id: '84.file-changes',
    title: 'changes of files without end, below a directory that is watched',
    expected: 'bounded',
    async attack(runtime) {
      const stop = new AbortController();
      let seen = 0;
      const watching = (async () => {
        for await (const _ of await runtime.files.watch('.', { signal: stop.signal })) seen++;
      })().catch(() => {});
      const flood = 'end=$((SECONDS+2)); while [ $SECONDS -lt $end ]; do : >a; rm a; mkdir b; rmdir b; done';
      await whileAlive(run(runtime, `(${flood}) & (${flood}) & wait`));
      stop.abort();
      await watching;
      return `${seen} changes were told`;
    },
    neighbour: stillWorks,
  },
];
