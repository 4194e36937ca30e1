/** The fuzzer is worth what its measure is worth: it sees a stall of the loop, and none where there is none. */
import { expect, test } from 'vitest';
import { watchLoop } from './loop-watch.js';

test('time in which the loop does not turn is seen, and waiting is not', async () => {
  const watch = await watchLoop();
  try {
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(watch.take().stallMs).toBeLessThan(100);
    const until = process.cpuUsage().user + 300_000;
    while (process.cpuUsage().user < until);
    expect(watch.take().stallMs).toBeGreaterThan(150);
    const held = Buffer.alloc(100 << 20, 1);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(watch.take().residentBytes).toBeGreaterThan(held.length);
  } finally {
    await watch.close();
  }
});
