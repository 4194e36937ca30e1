/**
 * A small shell beside this process that outlives it for a moment. However this process ends, the shell then ends
 * what its cells left running on this machine, also processes that left their parent, session and terminal.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Writable } from 'node:stream';
import { hostProgram } from '../../base/find-program.js';
import { programText } from '../../base/program-text.js';
import { withHiddenDescriptors } from './inheritance.js';

/** Every process of a cell carries this variable, so that we find those that left their parent. */
export const cellVariable = 'WORKCELL_CELL';

/** What the marks of all cells of this process begin with. */
export const ownerMark = randomBytes(12).toString('hex');

let state: 'idle' | 'watching' | 'dismissed' = 'idle';
let watchdog: ChildProcess | undefined;

/** Makes every process with the mark end with this process. Without bash or a process file system it cannot. */
export function startWatchdog(): void {
  if (state !== 'idle') return;
  state = 'watching';
  // Do not wait for it: its work begins when this process ends.
  setImmediate(() => {
    if (state !== 'watching') return;
    const source = programText('watchdog.bash', import.meta.url);
    const words = ['--norc', '--noprofile', '-c', source, 'watchdog', `${cellVariable}=${ownerMark}`];
    const child = spawn(hostProgram('bash'), words, {
      cwd: '/',
      env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
      detached: true,
      stdio: withHiddenDescriptors(['pipe', 'ignore', 'ignore']),
    });
    child.on('error', () => {});
    child.unref();
    watchdog = child;
    const input = child.stdin as Writable & { unref(): void };
    input.on('error', () => {});
    input.unref();
  });
}

/** Leaves running processes alone, because the caller asked for that. */
export function stopWatchdog(): void {
  state = 'dismissed';
  watchdog?.kill('SIGKILL');
}
