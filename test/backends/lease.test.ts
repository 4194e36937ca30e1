/** Leases: held by one at a time, and gone with their holder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { leaseHolder, takeLease, tryLease } from '../../src/backends/lease.js';
import { refusal } from '../../src/testing/contract/given.js';

let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lease-'));
});

afterEach(() => rmSync(directory, { recursive: true }));

test('a lease is held by one at a time, and is free again when it is released', async () => {
  const lease = await takeLease('a', directory);
  expect(await leaseHolder(directory)).toBe(process.pid);
  const error = await refusal(takeLease('a', directory), 'cell-in-use');
  expect(error.details).toEqual({ id: 'a', heldBy: process.pid });
  lease.release();
  lease.release();
  expect(await leaseHolder(directory)).toBeUndefined();
  expect(readdirSync(directory)).toEqual([]);
  (await takeLease('a', directory)).release();
});

test('of many that ask at once exactly one gets it, each time', async () => {
  for (let round = 0; round < 20; round++) {
    const taken = await Promise.all(Array.from({ length: 8 }, () => tryLease(directory)));
    const winners = taken.filter((each) => 'release' in each);
    expect(winners).toHaveLength(1);
    for (const each of taken) if ('leave' in each) each.leave();
    winners[0]?.release();
  }
  expect(readdirSync(directory)).toEqual([]);
});

test('a lease lapses when its holder is killed, and whoever waits is told', async () => {
  const holder = await startHolder();
  expect(await leaseHolder(directory)).toBe(holder.pid);
  const held = await tryLease(directory);
  if (!('lapsed' in held)) throw new Error('the lease was free');
  holder.kill('SIGKILL');
  await held.lapsed;
  const lease = await takeLease('a', directory);
  expect(readdirSync(directory)).toHaveLength(1);
  lease.release();
});

test('a holder that is stopped still holds it', { timeout: 20_000 }, async () => {
  const holder = await startHolder();
  holder.kill('SIGSTOP');
  await refusal(takeLease('a', directory), 'cell-in-use');
  holder.kill('SIGKILL');
});

test('a lease stays with its directory when that is renamed', async () => {
  const lease = await takeLease('a', directory);
  const moved = `${directory}-moved`;
  renameSync(directory, moved);
  directory = moved;
  expect(await leaseHolder(moved)).toBe(process.pid);
  lease.release();
  expect(readdirSync(moved)).toEqual([]);
});

/** Another process that holds the lease until we kill it. */
async function startHolder(): Promise<ChildProcess> {
  const program = `
    import { takeLease } from './src/backends/lease.ts';
    await takeLease('a', ${JSON.stringify(directory)});
    console.log('held');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program], {
    cwd: new URL('../..', import.meta.url),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}
