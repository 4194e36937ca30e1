/** Too many processes and threads, and processes that do not end. */
import { readlinkSync } from 'node:fs';
import type { Runtime } from '../../../index.js';
import { isEnforced, WorkcellError } from '../../../protocol/index.js';
import { attackLimits } from '../attack-limits.js';
import { type AbuseCase, demand, endsWith } from '../case.js';
import { finish, permitted, python, run, stillWorks } from '../inside.js';

/** Processes of the cell that have this word among their arguments. */
async function countInside(runtime: Runtime, word: string): Promise<number> {
  // The brackets keep the pattern from matching the arguments of those that look for it.
  const pattern = `[${word.slice(0, 1)}]${word.slice(1)}`;
  const source = `cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -o '${pattern}' | wc -l`;
  const { stdout } = await finish(runtime, ['bash', '-c', source]);
  return Number(stdout);
}

/** An executor that the bomb slows down is still ending it when its owner answers for it, at the deadline. */
function answeredByOwner(error: unknown): { endedBy: string; durationMs: number } {
  if (!WorkcellError.isInstance(error) || error.code !== 'timed-out') throw error;
  return { endedBy: 'timeout', durationMs: Number(error.details.timeoutMs) };
}

/** How many are left, when few are, or after some seconds. */
async function fewProcesses(runtime: Runtime): Promise<number> {
  for (let looks = 50; ; looks--) {
    const { processes } = await runtime.stats();
    if (processes < 20 || looks === 0) return processes;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** The kernel counts the cell's own helpers too, so allow a few more. */
const mostProcesses = attackLimits.pids + 16;

const unlimitedProcesses: AbuseCase['unclaimed'] = (isolation) =>
  isEnforced(isolation, 'processes')
    ? endsWith(isolation, 'processes')
    : 'the number of processes is not limited here';

export const processCases: readonly AbuseCase[] = [
  {
    id: '1.fork-bomb',
    title: 'a shell fork bomb',
    expected: 'killed',
    unclaimed: unlimitedProcesses,
    async attack(runtime) {
      const bomb = 'bomb() { bomb | bomb & }; bomb; sleep 1000';
      const options = { timeoutMs: 3000, maxOutputBytes: 1024 };
      const { endedBy, durationMs } = await run(runtime, bomb, options).catch(answeredByOwner);
      // Out of memory is an end in time, too.
      demand(endedBy !== 'exit' && endedBy !== 'lost', `it ended by ${endedBy}`);
      demand(durationMs < 20_000, `it took ${Math.round(durationMs)} ms to end`);
      const processes = await fewProcesses(runtime);
      demand(processes < 20, `${processes} processes are left of it`);
      return `ended by ${endedBy} after ${Math.round(durationMs)} ms, ${processes} processes left`;
    },
    neighbour: stillWorks,
  },
  {
    id: '1.slow-fork-bomb',
    title: 'a fork bomb that grows slowly and never ends by itself',
    expected: 'killed',
    unclaimed: unlimitedProcesses,
    async attack(runtime) {
      const bomb = 'for ((;;)); do sleep 1000 & sleep 0.005; done';
      const { endedBy } = await run(runtime, bomb, { timeoutMs: 4000, maxOutputBytes: 1024 });
      demand(endedBy !== 'exit' && endedBy !== 'lost', `it ended by ${endedBy}`);
      const { processes } = await runtime.stats();
      demand(processes < 20, `${processes} processes are left of it`);
      return `ended by ${endedBy}, ${processes} processes left`;
    },
    neighbour: stillWorks,
  },
  {
    id: '1.process-limit',
    title: 'more processes than the cell may have',
    expected: 'blocked',
    needs: ['python3'],
    unclaimed: unlimitedProcesses,
    async attack(runtime) {
      const made = await python<number>(
        runtime,
        `import signal
children = []
try:
    for _ in range(2000):
        child = os.fork()
        if child == 0:
            os.execv("/bin/sleep", ["sleep", "1000"])
        children.append(child)
except OSError:
    pass
for child in children:
    os.kill(child, signal.SIGKILL); os.waitpid(child, 0)
answer(len(children))`,
      );
      demand(made <= mostProcesses, `${made} were made, ${attackLimits.pids} are allowed`);
      return `refused after ${made} processes`;
    },
    neighbour: stillWorks,
  },
  {
    id: '6.thread-bomb',
    title: 'threads without end in one process',
    expected: 'blocked',
    needs: ['python3'],
    unclaimed: unlimitedProcesses,
    async attack(runtime) {
      const made = await python<number>(
        runtime,
        `import threading
threading.stack_size(65536)
gate, made = threading.Event(), 0
try:
    for _ in range(5000):
        threading.Thread(target=gate.wait, daemon=True).start()
        made += 1
except RuntimeError:
    pass
answer(made)`,
      );
      demand(made <= mostProcesses, `${made} were made, ${attackLimits.pids} are allowed`);
      return `refused after ${made} threads`;
    },
    neighbour: stillWorks,
  },
  {
    id: '9.ten-thousand-commands',
    title: 'ten thousand commands asked for at once',
    expected: 'contained',
    async attack(runtime) {
      const asked = Array.from({ length: 10_000 }, (_, index) =>
        runtime.run(':', { session: `s${index % 8}`, timeoutMs: 60_000 }).then(
          () => 'answered',
          (error: { code?: string }) => error.code ?? 'no code',
        ),
      );
      const answers = new Map<string, number>();
      for (const answer of await Promise.all(asked)) answers.set(answer, (answers.get(answer) ?? 0) + 1);
      const unclear = [...answers.keys()].filter((code) => code === 'internal' || code === 'no code');
      demand(unclear.length === 0, `some failed without a clear error: ${unclear.join(', ')}`);
      return [...answers].map(([answer, count]) => `${count} ${answer}`).join(', ');
    },
    neighbour: stillWorks,
  },
  {
    id: '9.thousand-processes',
    title: 'a thousand programs started at once',
    expected: 'contained',
    async attack(runtime) {
      const asked = Array.from({ length: 1000 }, () =>
        finish(runtime, ['true'], { timeoutMs: 60_000 }).then(
          ({ endedBy }) => endedBy as string,
          (error: { code?: string }) => error.code ?? 'no code',
        ),
      );
      const ends = new Set(await Promise.all(asked));
      demand(!ends.has('internal') && !ends.has('no code'), 'some failed without a clear error');
      return `all answered (${[...ends].join(', ')})`;
    },
    neighbour: stillWorks,
  },
  {
    id: '10.stubborn',
    title: 'a child that ignores TERM, double-forks, changes session and name',
    expected: 'killed',
    async attack(runtime) {
      const word = `stubborn${Date.now()}`;
      const child = `trap '' TERM HUP INT; exec -a ${word} sleep 1000`;
      const command = `( setsid bash -c "( ${child} ) & exit" & ); ( setsid bash -c "${child}" & ); sleep 1000`;
      const { endedBy } = await run(runtime, command, { timeoutMs: 1500 });
      demand(endedBy === 'timeout', `it ended by ${endedBy}`);
      const left = await countInside(runtime, word);
      demand(left === 0, `${left} of them live on after the timeout`);
      return 'ended together with the command';
    },
    neighbour: stillWorks,
  },
  {
    id: '10.no-trace',
    title: 'an orphan that also clears its environment, by which it could be traced',
    expected: 'killed',
    async attack(runtime) {
      const word = `untraced${Date.now()}`;
      const command = `( env -i setsid bash -c "( exec -a ${word} sleep 1000 ) & exit" & ); sleep 1000`;
      const { endedBy } = await run(runtime, command, { timeoutMs: 1500 });
      demand(endedBy === 'timeout', `it ended by ${endedBy}`);
      const left = await countInside(runtime, word);
      demand(left === 0, `${left} of them live on after the timeout, until the cell is closed`);
      return 'ended together with the command';
    },
    neighbour: stillWorks,
  },
  {
    id: '10.kill-all',
    title: 'a command that kills all it can see',
    expected: 'contained',
    async attack(runtime, tools) {
      const other = await tools.cell();
      // A cell that shares its processes with the machine would end all of them, this one included.
      const shared = readlinkSync('/proc/self/ns/pid');
      const { output } = await run(runtime, 'readlink /proc/self/ns/pid', { timeoutMs: 5000 });
      if (output.includes(shared)) throw new Error('its processes are those of the machine');
      await run(runtime, 'kill -9 -1; kill -9 1; kill -TERM 1; kill -STOP 1', { timeoutMs: 5000 });
      await permitted(other, 'echo unharmed');
      return 'only its own processes ended';
    },
    neighbour: stillWorks,
  },
];
