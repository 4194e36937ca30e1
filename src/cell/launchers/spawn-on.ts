import { spawn } from 'node:child_process';
import { withHiddenDescriptors } from './inheritance.js';
import type { ExitStatus, SpawnOptions } from './launcher.js';

/**
 * Starts a program, as the leader of a session of its own, on open descriptors. Every launcher starts programs through
 * it, so that no other descriptor of this process reaches them. Rejects with the error of the operating system.
 */
export function spawnOn(
  descriptors: readonly number[],
  argv: readonly string[],
  { cwd, env }: SpawnOptions,
): Promise<{ pid: number; exited: Promise<ExitStatus> }> {
  return new Promise((resolve, reject) => {
    const [file = '', ...args] = argv;
    const child = spawn(file, args, { cwd, env, detached: true, stdio: withHiddenDescriptors(descriptors) });
    const exited = new Promise<ExitStatus>((settle) => {
      child.once('exit', (exitCode, signal) => settle({ exitCode, signal }));
    });
    child.once('error', reject);
    child.once('spawn', () => resolve({ pid: child.pid as number, exited }));
  });
}
