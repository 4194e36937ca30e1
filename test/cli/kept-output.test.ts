import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readOutput } from '../../src/cell/executor/handlers/run-handlers.js';
import { OutputStore } from '../../src/cell/executor/output/output-store.js';
import { printKept } from '../../src/cli/kept-output.js';

const directory = mkdtempSync(join(tmpdir(), 'kept-output-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** What is printed of output that a cell keeps within such limits, in the order in which it is. */
async function printed(chunks: readonly Buffer[], place = directory): Promise<(string | number)[]> {
  const outputs = new OutputStore(() => place, { headBytes: 70_000, tailBytes: 70_000 });
  const { id, streams } = outputs.create(['stdout', 'stderr']);
  for (const chunk of chunks) streams.stdout?.append(chunk);
  const parts: (string | number)[] = [];
  const kept = {
    // The handler uses nothing else of its context.
    read: async (action: Parameters<typeof readOutput>[0]) =>
      readOutput(action, { outputs } as Parameters<typeof readOutput>[1], {}),
    write: (_stream: string, text: string) => void (text !== '' && parts.push(text)),
    onGap: (bytes: number) => void parts.push(bytes),
  };
  await printKept(id, kept, new AbortController().signal);
  outputs.close();
  return parts;
}

test('the last character shows that its end is missing', async () => {
  expect((await printed([Buffer.from('all is wél').subarray(0, -2)])).join('')).toBe('all is w\ufffd');
});

test('a middle that is gone is told between its sides, which are no one character', async () => {
  const long = Buffer.from('é'.repeat(105_001));
  const [head, half, gap, tail] = await printed([Buffer.from('a'), long]);
  expect(head).toBe(`a${'é'.repeat(34_999)}`);
  expect(half).toBe('\ufffd');
  expect(gap).toBe(long.length + 1 - 140_000);
  expect(tail).toBe('é'.repeat(35_000));
});

test('a beginning that is gone is told too', async () => {
  // No disk: only the end stays, in memory.
  const parts = await printed([Buffer.alloc(200_000, 'x')], join(directory, 'absent'));
  expect(parts).toEqual([130_000, 'x'.repeat(70_000)]);
});
