/** An acknowledged event survives the writer, whenever something kills it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { openEventStore } from '../../../src/runtime/events/open.js';

const directory = mkdtempSync(join(tmpdir(), 'workcell-crash-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const program = fileURLToPath(new URL('../../fixtures/append-events.ts', import.meta.url));
const place = `sqlite:${join(directory, 'events.db')}`;

/** Kills the writer once it has acknowledged so many, and gives the last one it did. */
async function acknowledgedBeforeKill(runtimeId: string, threshold: number): Promise<number> {
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), program, place, runtimeId], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    text += more;
    if (last(text) >= threshold) child.kill('SIGKILL');
  });
  await once(child, 'close');
  return last(text);
}

/** The number on the last whole line. */
function last(text: string): number {
  return Number(text.slice(0, text.lastIndexOf('\n')).split('\n').at(-1) ?? 0);
}

test.each([1, 50, 700, 2500, 5000, 7500, 9900])(
  'a writer killed after event %i of 10,000 has lost none that it acknowledged, and the store opens at once',
  async (threshold) => {
    const runtimeId = `killed-after-${threshold}`;
    const acknowledged = await acknowledgedBeforeKill(runtimeId, threshold);
    expect(acknowledged).toBeGreaterThanOrEqual(threshold);
    const store = await openEventStore(place);
    try {
      const events = await store.read(runtimeId, { after: 0, limit: 20_000 });
      expect(events.length).toBeGreaterThanOrEqual(acknowledged);
      expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index + 1));
    } finally {
      await store.close();
    }
  },
);
