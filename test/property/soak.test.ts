/** Long use of one runtime: it loses nothing, mixes nothing, and does not grow. */
import { readdirSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRuntime, type Runtime } from '../../src/index.js';

let runtime: Runtime;

beforeAll(async () => {
  runtime = await createRuntime({ config: false, backend: 'cli' });
});

afterAll(() => runtime.close());

const mebibyte = 1024 * 1024;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

test('10,000 commands one after the other: every exit code right, no growth of descriptors or memory', async () => {
  const cycle = async (count: number) => {
    for (let index = 0; index < count; index++) {
      const { exitCode, output, endedBy } = await runtime.run('true');
      if (exitCode !== 0 || output !== '' || endedBy !== 'exit') {
        expect({ index, exitCode, output, endedBy }).toEqual({
          index,
          exitCode: 0,
          output: '',
          endedBy: 'exit',
        });
      }
    }
  };
  await cycle(2000);
  const before = use();
  await cycle(10_000);
  const after = use();
  expect(after.descriptors - before.descriptors).toBeLessThanOrEqual(2);
  expect((after.heapBytes - before.heapBytes) / mebibyte).toBeLessThan(8);
  expect((after.residentBytes - before.residentBytes) / mebibyte).toBeLessThan(64);
});

test('1,000 commands with output and exit codes of their own: none lost, none mixed', async () => {
  for (let index = 0; index < 1000; index++) {
    const { exitCode, output } = await runtime.run(`echo token-${index}; (exit ${index % 256})`);
    expect({ exitCode, output }).toEqual({ exitCode: index % 256, output: `token-${index}\n` });
  }
});

test('200 sessions at once, 20 commands each: no answer goes to another', async () => {
  const before = use();
  const sessions = Array.from({ length: 200 }, (_, index) => `session-${index}`);
  await Promise.all(
    sessions.map(async (session) => {
      for (let round = 0; round < 20; round++) {
        const result = await runtime.run(`mine=${session}; echo "$mine round ${round}"`, { session });
        expect(result).toMatchObject({ output: `${session} round ${round}\n`, exitCode: 0, session });
      }
    }),
  );
  await Promise.all(sessions.map((session) => runtime.execute({ action: 'close_session', session })));
  await expect.poll(() => use().descriptors - before.descriptors, { timeout: 10_000 }).toBeLessThanOrEqual(2);
});

function use(): { descriptors: number; heapBytes: number; residentBytes: number } {
  collectGarbage();
  const { heapUsed, rss } = process.memoryUsage();
  return { descriptors: readdirSync('/proc/self/fd').length, heapBytes: heapUsed, residentBytes: rss };
}
