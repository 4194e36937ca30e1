import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sweepOrphans } from '../../../../src/cell/launchers/bubblewrap/orphans.js';
import { ownedPrefix } from '../../../../src/cell/launchers/scratch.js';

/** Bubblewrap as an owner with this name starts it. */
async function startFor(owner: string): Promise<ChildProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'orphans-'));
  const exchange = join(folder, `${owner}x`, 'cell-a');
  mkdirSync(exchange, { recursive: true });
  const script = 'echo up; exec sleep 1000';
  const args = ['--ro-bind', '/', '/', '--ro-bind', exchange, '/mnt', '--', 'sh', '-c', script];
  const child = spawn('bwrap', ['--unshare-pid', '--die-with-parent', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return child;
}

test('ends what an owner that is gone has left waiting, and leaves others alone', async () => {
  // The number of a living process, as if it belonged to one that started at another time.
  const gone = await startFor(ownedPrefix().replace(/-\d+-$/, '-0-'));
  const mine = await startFor(ownedPrefix());
  const ended = once(gone, 'exit');
  sweepOrphans();
  expect((await ended)[1]).toBe('SIGKILL');
  expect(mine.exitCode ?? mine.signalCode).toBe(null);
});
