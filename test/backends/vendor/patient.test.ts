/** A vendor that never answers: each call ends with its limit, and what comes later is ended. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { awaitSandbox, limited } from '../../../src/backends/vendor/patient.js';
import type { VendorSandbox } from '../../../src/backends/vendor/vendor-sandbox.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => vi.useRealTimers());

const never = () => new Promise<never>(() => {});
const silent = (end: VendorSandbox['end'] = never): VendorSandbox => ({
  id: 'abc',
  run: never,
  write: never,
  address: never,
  end,
  extend: never,
  pause: never,
  resume: never,
  ready: never,
});

const callMs = 150_000;
const startMs = 900_000;

/** Fails when it settles before its limit, or not then. */
async function timesOut(work: Promise<unknown>, limitMs: number): Promise<void> {
  const settled = vi.fn();
  void work.catch(settled);
  await vi.advanceTimersByTimeAsync(limitMs - 1);
  expect(settled).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(settled).toHaveBeenCalledWith(expect.objectContaining({ code: 'timed-out' }));
}

test.each<[string, (sandbox: VendorSandbox) => Promise<unknown> | undefined, number]>([
  ['a command', (sandbox) => sandbox.run('true'), callMs],
  ['a file', (sandbox) => sandbox.write('/a', Buffer.from('a')), callMs],
  ['an address', (sandbox) => sandbox.address(1), callMs],
  ['a sign of life', (sandbox) => sandbox.extend?.(), callMs],
  ['a pause', (sandbox) => sandbox.pause?.(), callMs],
  ['a return', (sandbox) => sandbox.resume?.(), callMs],
  ['a start', (sandbox) => sandbox.ready?.(), startMs],
])('%s has its time', async (_what, call, limitMs) => {
  await timesOut(call(limited(silent())) as Promise<unknown>, limitMs);
});

test('a creation has its time, and a sandbox that comes later is ended', async () => {
  const ended = vi.fn(async () => {});
  let give: (late: VendorSandbox) => void = () => {};
  const create = () =>
    new Promise<VendorSandbox>((resolve) => {
      give = resolve;
    });
  await timesOut(awaitSandbox({ create }, undefined), startMs);
  give(silent(ended));
  await vi.waitFor(() => expect(ended).toHaveBeenCalledOnce());
});

test('a cancelled call does not wait for its time', async () => {
  const cancelled = new AbortController();
  const running = limited(silent(), cancelled.signal).run('true');
  cancelled.abort();
  await expect(running).rejects.toMatchObject({ code: 'cancelled' });
});
