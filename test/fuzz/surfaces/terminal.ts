/** What a program prints: to a shell of the cell, to a terminal of its own, and to the pipes of a plain process. */
import type { Round } from '../cell.js';
import type { Surface } from './surface.js';

const timeoutMs = 4000;

export const terminal: Surface = {
  backends: ['sandbox', 'docker', 'cli', 'local'],
  mostBytes: 256 << 20,

  async warmUp(round) {
    const { runtime } = round;
    await runtime.run(`printf '\\033[2J\\033[Hhello\\033[5;5Hthere\\rx\\b\\n'; seq 20000`);
    await shell(round, 1);
    await ownTerminal(round, 1);
    await plain(round, 1);
  },

  async round(round) {
    const code = round.random.int(256);
    await round.random.pick([shell, shell, shell, ownTerminal, plain])(round, code);
    await expectHonestShell(round);
  },
};

async function shell({ runtime, inside, seed, random, answered, claim }: Round, code: number): Promise<void> {
  const result = await answered('run', timeoutMs, () =>
    runtime.run(inside('terminal', seed, code), {
      timeoutMs,
      ...(random.chance(0.2) && { handBackMs: random.between(1, 300) }),
      ...(random.chance(0.3) && { maxOutputBytes: random.pick([256, 4096, 16_777_216]) }),
      ...(random.chance(0.3) && { outputLimitBytes: random.between(1, 1_000_000) }),
    }),
  );
  if (result?.endedBy === 'exit')
    claim(result.exitCode === code, `exit code ${code} was reported as ${result.exitCode}`);
  if (result?.endedBy !== 'no-change') return;
  // Handed back: the rest, and then its end.
  await answered('run "" (what is left)', timeoutMs, () => runtime.run('', { timeoutMs }));
}

async function ownTerminal(
  { runtime, insideArgv, seed, random, answered, claim }: Round,
  code: number,
): Promise<void> {
  const opened = await answered('terminals.open', timeoutMs, () =>
    runtime.terminals.open({
      argv: insideArgv('terminal', seed, code),
      columns: random.between(1, 400),
      rows: random.between(1, 100),
    }),
  );
  if (opened === undefined) return;
  await answered('reading a terminal', timeoutMs, async (signal) => {
    const ended = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    const all = (async () => {
      for await (const chunk of opened.output)
        if (random.chance(0.001)) opened.resize(chunk.length % 500 || 1, 10);
      const { exitCode } = await opened.exited;
      claim(exitCode === code, `exit code ${code} of a terminal was reported as ${exitCode}`);
    })();
    await Promise.race([ended, all]);
    await opened.close();
  });
}

async function plain({ runtime, insideArgv, seed, answered, claim }: Round, code: number): Promise<void> {
  const result = await answered('processes', timeoutMs, async () => {
    const { id } = await runtime.processes.start(insideArgv('terminal', seed, code), { timeoutMs });
    return runtime.processes.wait(id);
  });
  if (result?.endedBy === 'exit')
    claim(result.exitCode === code, `exit code ${code} of a process was reported as ${result.exitCode}`);
}

/** The next command works, and its end is reported truly. */
export async function expectHonestShell({ runtime, random, answered, claim }: Round): Promise<void> {
  const code = random.int(256);
  const next = await answered('the next command', 10_000, () =>
    runtime.run(`(exit ${code})`, { session: 'honest', timeoutMs: 10_000 }),
  );
  const told = `${next?.endedBy} ${next?.exitCode}`;
  claim(told === `exit ${code}`, `the next command exits with ${code} and was reported as "${told}"`);
}
