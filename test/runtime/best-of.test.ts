import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { aiSdkTools } from '../../src/adapters/ai-sdk.js';
import { attemptWith, bestOf, createRuntime, type Runtime } from '../../src/index.js';

const root = mkdtempSync(join(tmpdir(), 'best-of-'));
let runtime: Runtime;
beforeAll(async () => {
  writeFileSync(join(root, 'file'), 'old\n');
  const workspace = { from: root, mode: 'overlay' } as const;
  runtime = await createRuntime({ config: false, backend: 'sandbox', workspace, plugins: [], tools: [] });
});
afterAll(async () => {
  await runtime.close();
  rmSync(root, { recursive: true });
});

const isClosed = (fork: Runtime) =>
  fork.run('true').then(
    () => false,
    () => true,
  );

it.each([
  [[Number.NaN, 1, 2], 2],
  [[-1, Number.NaN, -2], 0],
  [[Number.NEGATIVE_INFINITY, Number.NaN, Number.NaN], 0],
  [['9', 1, 1], 1],
])('keeps the best of the scores %j, of equal ones the first', async (given, expected) => {
  const forks: Runtime[] = [];
  const { winner, result, score, scores, failures } = await bestOf(runtime, {
    count: 3,
    async attempt(fork, index) {
      forks[index] = fork;
      return index;
    },
    judge: (index) => given[index] as number,
  });
  await using _ = winner;
  const numbers = given.map((one) => (typeof one === 'number' && !Number.isNaN(one) ? one : undefined));
  expect({ result, score, scores }).toEqual({ result: expected, score: given[expected], scores: numbers });
  expect([...failures.keys()]).toEqual([0, 1, 2].filter((index) => numbers[index] === undefined));
  expect(winner).toBe(forks[expected]);
  expect(await Promise.all(forks.map(isClosed))).toEqual([0, 1, 2].map((index) => index !== expected));
});

it('returns the winner and the failure when another fork does not close', async () => {
  const wrong = new Error('did not close');
  const restored: (() => Promise<void>)[] = [];
  const best = await bestOf(runtime, {
    count: 3,
    async attempt(fork, index) {
      if (index === 0) {
        restored.push(fork.close.bind(fork));
        vi.spyOn(fork, 'close').mockRejectedValue(wrong);
      }
      return index;
    },
    judge: (index) => index,
  });
  await using winner = best.winner;
  expect(best).toMatchObject({ result: 2, closeFailures: [wrong] });
  expect((await winner.run('cat file')).output.trim()).toBe('old');
  for (const close of restored) await close();
});

it('closes all forks and throws the first failure when every try fails', async () => {
  const forks: Runtime[] = [];
  const trying = bestOf(runtime, {
    count: 2,
    async attempt(fork, index) {
      forks.push(fork);
      throw new Error(`try ${index}`);
    },
    judge: () => 1,
  });
  await expect(trying).rejects.toThrow('try 0');
  expect(await Promise.all(forks.map(isClosed))).toEqual([true, true]);
});

it('gives each try the tools of its own fork', async () => {
  const { winner, scores } = await bestOf(runtime, {
    count: 2,
    attempt: attemptWith(aiSdkTools, async (tools, index) => {
      const content = `${'x'.repeat(index + 1)}\n`;
      await tools.write?.execute({ path: 'mine', content }, {});
    }),
    judge: async (_, fork) => (await fork.run('cat mine')).output.trim().length,
  });
  await using _ = winner;
  expect(scores).toEqual([1, 2]);
});

it('closes all forks when it is cancelled, whatever their tries wait for', async () => {
  const controller = new AbortController();
  const forks: Runtime[] = [];
  const told: AbortSignal[] = [];
  const trying = bestOf(runtime, {
    count: 2,
    attempt(fork, _, signal) {
      forks.push(fork);
      told.push(signal);
      if (forks.length === 2) controller.abort();
      return new Promise(() => {});
    },
    judge: () => 1,
    signal: controller.signal,
  });
  await expect(trying).rejects.toMatchObject({ code: 'cancelled' });
  expect(told.map(({ aborted }) => aborted)).toEqual([true, true]);
  expect(await Promise.all(forks.map(isClosed))).toEqual([true, true]);
  await expect(
    bestOf(runtime, { count: 1, attempt: async () => 1, judge: () => 1, signal: AbortSignal.abort() }),
  ).rejects.toMatchObject({ code: 'cancelled' });
});
