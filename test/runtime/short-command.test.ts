/** What a command that needs no time costs its owner, in calls of the system: they stay the same on a busy machine. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createRuntime } from '../../src/index.js';

const commands = 300;

interface Calls {
  readonly reads: number;
  readonly writes: number;
}

/** All reads and writes of this process since it started. */
function callsSoFar(): Calls {
  const text = readFileSync('/proc/self/io', 'latin1');
  const of = (name: string) => Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(text)?.[1]);
  return { reads: of('syscr'), writes: of('syscw') };
}

async function callsOfOne(store: string): Promise<Calls> {
  await using runtime = await createRuntime({ config: false, backend: 'sandbox', events: { store } });
  for (let count = 0; count < 20; count++) await runtime.run(':');
  const before = callsSoFar();
  for (let count = 0; count < commands; count++) expect((await runtime.run(':')).exitCode).toBe(0);
  const after = callsSoFar();
  return {
    reads: (after.reads - before.reads) / commands,
    writes: (after.writes - before.writes) / commands,
  };
}

test('a builtin is one write to its shell, one read of the report and one look at the memory', async () => {
  const { reads, writes } = await callsOfOne('memory');
  expect(reads).toBeLessThan(2.5);
  expect(writes).toBeLessThan(1.5);
});

test('the durable record of a builtin adds two appends', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'workcell-short-'));
  try {
    const { reads, writes } = await callsOfOne(`sqlite:${join(folder, 'events.db')}`);
    // SQLite writes a page in two parts; an event is a page of the table and one of its index.
    expect(reads).toBeLessThan(3);
    expect(writes).toBeLessThan(13);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
