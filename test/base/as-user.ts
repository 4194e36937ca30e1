/** Programs of a user without rights, who attacks what this user owns. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

/** A user that owns nothing and that no other program runs as. */
export const stranger = 65_534;

const python = '/usr/bin/python3';
const as = { uid: stranger, gid: stranger, env: { PATH: '/usr/local/bin:/usr/bin:/bin' } };

/** Runs Python to its end. */
export function runAsStranger(source: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync(python, ['-I', '-c', source, ...args], { ...as, encoding: 'utf8' });
  if (status !== 0) throw new Error(`The stranger failed: ${stderr}`);
}

/** Starts Python, which prints a line when it has begun. */
export async function startAsStranger(
  source: string,
  { cwd, args }: { cwd: string; args: readonly string[] },
): Promise<ChildProcess> {
  // Drop the user's rights after changing to the directory, as for a program in a cell that got it.
  const enter = ['--reuid', String(stranger), '--regid', String(stranger), '--clear-groups', '--', python];
  const child = spawn('setpriv', [...enter, '-I', '-c', source, ...args], {
    cwd,
    env: as.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return child;
}
