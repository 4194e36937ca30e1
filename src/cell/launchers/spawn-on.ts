import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { withHiddenDescriptors } from './inheritance.js';
import type { ExitStatus, SpawnOptions } from './launcher.js';

/**
 * Starts a program, as the leader of its own session, on open descriptors. Every launcher starts programs through
 * this, so that no other descriptor of this process reaches them. The last descriptor can be a channel: a socket pair
 * whose ends no process can open again. Rejects with the error of the operating system.
 */
export function spawnOn(
  descriptors: readonly (number | 'channel')[],
  argv: readonly string[],
  { cwd, env }: SpawnOptions,
): Promise<{ pid: number; exited: Promise<ExitStatus>; channel: Socket | undefined }> {
  return new Promise((resolve, reject) => {
    const [file = '', ...args] = argv;
    const stdio = descriptors.map((entry) => (entry === 'channel' ? 'pipe' : entry));
    const child = spawn(file, args, { cwd, env, detached: true, stdio: withHiddenDescriptors(stdio) });
    const channel = descriptors.includes('channel')
      ? (child.stdio[descriptors.indexOf('channel')] as Socket)
      : undefined;
    // An ended program takes nothing more. Another listener reports its end, and nothing waits for this one.
    channel?.on('error', () => {}).unref();
    const exited = new Promise<ExitStatus>((settle) => {
      child.once('exit', (exitCode, signal) => settle({ exitCode, signal }));
    });
    child.once('error', reject);
    child.once('spawn', () => resolve({ pid: child.pid as number, exited, channel }));
  });
}
