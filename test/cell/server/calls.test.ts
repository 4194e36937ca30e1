import { afterEach, expect, test } from 'vitest';
import { Calls } from '../../../src/cell/server/calls.js';
import { defaultLimits, type ServerLimits } from '../../../src/cell/server/executor-server-options.js';
import { SpentKeys } from '../../../src/cell/server/spent-keys.js';
import type { Observation, Progress } from '../../../src/protocol/index.js';

let calls: Calls;
afterEach(() => calls?.close());

const open = (limits: Partial<ServerLimits> = {}) => {
  calls = new Calls({ ...defaultLimits, ...limits }, () => {});
};
const answer = { observation: 'list_sessions', sessions: [] } as unknown as Observation;

/** Runs something under a key; `true` when it really ran. */
async function run(key: string, report: (onProgress: (progress: Progress) => unknown) => void = () => {}) {
  let ran = false;
  const call = calls.start(
    key,
    '',
    async ({ onProgress }) => {
      ran = true;
      report((progress) => onProgress?.(progress));
      return answer;
    },
    { withProgress: true, framed: true },
  );
  await call.done;
  return ran;
}

test('a key does not run again after thousands of others, cancelled ones among them', async () => {
  open();
  expect(await run('the-one')).toBe(true);
  for (let index = 0; index < 12_000; index++) await run(`other-${index}`);
  for (let index = 0; index < 30_000; index++) calls.cancel(`unknown-${index}`);
  await expect(run('the-one')).rejects.toMatchObject({ code: 'output-not-found' });
});

test('keys are remembered at least as many as said, and none that never came', () => {
  const keys = new SpentKeys(5000);
  for (let index = 0; index < 17_500; index++) keys.add(`key-${index}`);
  const known = Array.from({ length: 30_000 }, (_, index) => keys.has(`key-${index}`));
  expect(known.slice(12_500, 17_500).every(Boolean)).toBe(true);
  expect(known.slice(0, 7500).some(Boolean)).toBe(false);
  expect(known.slice(17_500).some(Boolean)).toBe(false);
});

test('a long output counts with what is kept of it, so that results of others stay', async () => {
  open();
  await run('small');
  const text = 'x'.repeat(256 * 1024);
  await run('long', (report) => {
    for (let sequence = 0; sequence < 320; sequence++)
      report({ type: 'output-delta', stream: 'terminal', sequence, text });
  });
  expect(calls.find('long').totalBytes).toBeGreaterThan(defaultLimits.keptBytes);
  expect(calls.find('small').ended).toBe(true);
});
