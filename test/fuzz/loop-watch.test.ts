/** The fuzzer is worth what its measure is worth: it sees a stall of the loop, and none where there is none. */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { type Moment, ownDoing, watchLoop } from './loop-watch.js';

test('time in which the loop does not turn is seen, and waiting is not', async () => {
  const watch = await watchLoop();
  try {
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(watch.take().stallMs).toBeLessThan(100);
    const until = process.cpuUsage().user + 300_000;
    while (process.cpuUsage().user < until);
    expect(watch.take().stallMs).toBeGreaterThan(150);
    spawnSync('sleep', ['0.5']);
    expect(watch.take().stallMs).toBeGreaterThan(150);
    const held = Buffer.alloc(100 << 20, 1);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(watch.take().residentBytes).toBeGreaterThan(held.length);
  } finally {
    await watch.close();
  }
});

test.each<[what: string, passed: Partial<Moment>, ownMs: number]>([
  ['computes', { ranMs: 80, idleMs: 20 }, 80],
  ['computes, and waits for a processor', { ranMs: 80, waitedMs: 20 }, 80],
  ['waits for a processor once it has something to do', { idleMs: 95, waitedMs: 90, ranMs: 5 }, 5],
  ['waits in a call', { ranMs: 1 }, 100],
  ['has nothing to do, and its clock is late', { idleMs: 100 }, 0],
  ['waits for a helper that computes', { ranMs: 4, othersWaitedMs: [0, 10] }, 90],
  ['waits for a helper that has no processor', { ranMs: 4, othersWaitedMs: [0, 93] }, 7],
  ['computes while helpers have no processor', { ranMs: 70, othersWaitedMs: [90, 40] }, 70],
  ['stands still with the whole machine', { ranMs: 2, machineMs: 95 }, 5],
])('a thread that %s', (what, passed, ownMs) => {
  const before: Moment = { atMs: 7, idleMs: 7, machineMs: 7, ranMs: 7, waitedMs: 7, othersWaitedMs: [7, 7] };
  const zero: Moment = { atMs: 0, idleMs: 0, machineMs: 0, ranMs: 0, waitedMs: 0, othersWaitedMs: [0, 0] };
  const by = { ...zero, atMs: 100, ...passed };
  const now: Moment = {
    atMs: before.atMs + by.atMs,
    idleMs: before.idleMs + by.idleMs,
    machineMs: before.machineMs + by.machineMs,
    ranMs: before.ranMs + by.ranMs,
    waitedMs: before.waitedMs + by.waitedMs,
    othersWaitedMs: before.othersWaitedMs.map((ms, at) => ms + (by.othersWaitedMs[at] ?? 0)),
  };
  expect(ownDoing(before, now), what).toBe(ownMs);
});
