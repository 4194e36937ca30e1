/** Programs that speak for the machinery: their own ends, those of others, processes that nobody is to see. */
import { randomBytes } from 'node:crypto';
import type { Round } from '../cell.js';
import { countProcesses } from '../witness.js';
import type { Surface } from './surface.js';
import { expectHonestShell } from './terminal.js';

const timeoutMs = 3000;

export const control: Surface = {
  backends: ['sandbox', 'docker', 'cli', 'local'],
  mostBytes: 192 << 20,

  async warmUp({ runtime }) {
    await runtime.run('true', { timeoutMs });
    await runtime.run('sleep 100', { timeoutMs: 50 });
    const { id } = await runtime.processes.start(['true']);
    await runtime.processes.wait(id);
    await runtime.stats();
    await countProcesses('nothing');
  },

  async round(round) {
    const marker = `marker-${randomBytes(8).toString('hex')}`;
    await round.random.pick([command, command, plain, endless])(round, marker);
    await expectNoneHidden(round, marker);
    await endMarked(round, marker);
    await expectHonestShell(round);
  },
};

/** A command that exits with a code of its own, while what it started tells otherwise. */
async function command(
  { runtime, inside, seed, random, answered, claim }: Round,
  marker: string,
): Promise<void> {
  const code = random.between(1, 200);
  const result = await answered('run', timeoutMs, () =>
    runtime.run(inside('control', seed, code, marker, 'exit'), { timeoutMs }),
  );
  if (result?.endedBy === 'timeout') return;
  claim(
    result?.exitCode === code && result.endedBy === 'exit',
    `a command exits with ${code} and was reported as "${result?.endedBy} ${result?.exitCode}"`,
  );
}

async function plain(
  { runtime, insideArgv, seed, random, answered, claim }: Round,
  marker: string,
): Promise<void> {
  const code = random.between(1, 200);
  const end = random.pick(['exit', 'signal']);
  const result = await answered('processes', timeoutMs, async () => {
    const { id } = await runtime.processes.start(insideArgv('control', seed, code, marker, end), {
      timeoutMs,
    });
    return runtime.processes.wait(id);
  });
  if (result?.endedBy === 'timeout') return;
  const expected = end === 'exit' ? `${code} null` : 'null SIGTERM';
  claim(
    `${result?.exitCode} ${result?.signal}` === expected,
    `a process ended with "${expected}" and was reported as "${result?.exitCode} ${result?.signal}"`,
  );
}

/** A command that never ends: we end it with everything that it started. */
async function endless({ runtime, inside, seed, answered, claim }: Round, marker: string): Promise<void> {
  const result = await answered('run of an endless command', 1000, () =>
    runtime.run(inside('control', seed, 0, marker, 'stay'), { timeoutMs: 1000 }),
  );
  claim(
    result?.endedBy === 'timeout',
    `an endless command was reported as "${result?.endedBy} ${result?.exitCode}"`,
  );
  const left = await settled(() => countProcesses(marker), 0);
  claim(left === 0, `${left} processes of a command that timed out are still there`);
}

async function expectNoneHidden({ runtime, answered, claim }: Round, marker: string): Promise<void> {
  const there = await countProcesses(marker);
  const told = await answered('stats', 5000, () => runtime.stats());
  const after = await countProcesses(marker);
  // Some may have come or gone in between.
  if (told !== undefined)
    claim(
      told.processes >= Math.min(there, after),
      `${there} processes are there, ${told.processes} are told`,
    );
}

async function endMarked({ runtime, answered, claim }: Round, marker: string): Promise<void> {
  await answered('ending what is left', 10_000, async () => {
    const { id } = await runtime.processes.start(['pkill', '-KILL', '-f', marker], { timeoutMs: 10_000 });
    return runtime.processes.wait(id);
  });
  const left = await settled(() => countProcesses(marker), 0);
  claim(left === 0, `${left} processes of the round could not be ended`);
}

/** Gone processes take the kernel a moment. */
async function settled(read: () => Promise<number>, expected: number): Promise<number> {
  const until = performance.now() + 1000;
  let value = await read();
  while (value !== expected && performance.now() < until) value = await read();
  return value;
}
