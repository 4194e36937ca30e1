/** The terminals of an agent of the Agent Client Protocol, however many it asks for and however they print. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { acpHandlers } from '../../src/adapters/acp.js';
import { createRuntime, type Runtime } from '../../src/index.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** What ended tests left goes in several steps, some of them in later turns. */
async function settleHeap(): Promise<void> {
  for (let round = 0; round < 5; round++) {
    await nextTurn();
    collectGarbage();
  }
}

const sessionId = 'only';
const { signal } = new AbortController();

test('terminals asked for at once are no more than those asked for in turn', async () => {
  await using runtime = await createRuntime({ config: false, backend: 'cli', events: { store: 'memory' } });
  const { 'terminal/create': create, 'terminal/release': release } = acpHandlers(runtime);
  const ask = () => create({ params: { sessionId, command: 'true' }, signal });
  const answers = await Promise.allSettled(Array.from({ length: 70 }, ask));
  const refused = answers.filter(({ status }) => status === 'rejected');
  expect(refused.length).toBe(6);
  expect(refused.map((answer) => String((answer as PromiseRejectedResult).reason))).toEqual(
    refused.map(() => expect.stringContaining('rate-limited')),
  );
  const [first] = answers;
  if (first?.status !== 'fulfilled') throw new Error('The first terminal was refused.');
  await release({ params: { sessionId, ...first.value }, signal });
  await expect(ask()).resolves.toHaveProperty('terminalId');
});

test('a command that could not start leaves its place to another', async () => {
  await using runtime = await createRuntime({ config: false, backend: 'cli', events: { store: 'memory' } });
  const create = acpHandlers(runtime)['terminal/create'];
  for (let count = 0; count < 70; count++)
    await expect(
      create({ params: { sessionId, command: 'true', cwd: '/nowhere' }, signal }),
    ).rejects.toThrow();
  await expect(create({ params: { sessionId, command: 'true' }, signal })).resolves.toBeDefined();
});

/** The terminal of a command that prints these pieces, as the cell chose to cut them. */
async function printed(pieces: Iterable<string>, outputByteLimit?: number) {
  let listen: (output: { text: string }) => void = () => {};
  const processes = {
    start: async () => ({ id: 'p1' }),
    wait: (_id: string, { onOutput }: { onOutput: typeof listen }) => {
      listen = onOutput;
      return new Promise(() => {});
    },
  };
  const handlers = acpHandlers({ processes } as unknown as Runtime);
  const params = { sessionId, command: 'true', outputByteLimit: outputByteLimit ?? null };
  const terminal = await handlers['terminal/create']({ params, signal });
  for (const text of pieces) listen({ text });
  return () => handlers['terminal/output']({ params: { sessionId, ...terminal }, signal });
}

test.each([0, 1, 10, 16_383, 16_384, 16_385, 40_000])(
  'of pieces of any size the last %i bytes are kept',
  async (limit) => {
    const whole = 'aé日𝄞\n'.repeat(12_000);
    const pieces = [whole.slice(0, 50_000), ...whole.slice(50_000, 51_996), whole.slice(51_996)];
    const { output, truncated } = await (await printed(pieces, limit))();
    expect(truncated).toBe(true);
    expect(whole.endsWith(output)).toBe(true);
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(limit);
    expect(Buffer.byteLength(output)).toBeGreaterThan(limit - 4);
  },
);

test('a million tiny pieces take no more memory than their bytes', async () => {
  await settleHeap();
  const before = process.memoryUsage();
  const output = await printed({
    *[Symbol.iterator]() {
      for (let count = 0; count < 1_000_000; count++) yield 'x';
    },
  });
  await settleHeap();
  const after = process.memoryUsage();
  expect(after.heapUsed + after.external - before.heapUsed - before.external).toBeLessThan(16 * 1024 * 1024);
  expect((await output()).output).toBe('x'.repeat(1_000_000));
});
