/**
 * Copies of programs that may be executed but not read.
 *
 * The kernel lets nobody look into a process whose program its user may not read: memory, environment and descriptors
 * of it cannot be opened through the process file system and it cannot be traced, except with a capability that no
 * program in a cell has. What it forks is protected the same way until that executes an ordinary program. So a
 * control channel whose inner end only such processes hold is out of reach of all other programs of the same user.
 */
import { chmodSync, copyFileSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Makes the copy in a directory that nobody else may write to. */
export function unreadableCopy(program: string, directory: string): string {
  const path = join(directory, basename(program));
  copyFileSync(program, path);
  chmodSync(path, 0o111);
  return path;
}

/** Whether programs can be started from there: a mount may forbid it. */
export function permitsExecution(path: string): boolean {
  let best = { point: '', options: '' };
  for (const line of readFileSync('/proc/self/mountinfo', 'utf8').split('\n')) {
    const [, , , , point = '', options = ''] = line.split(' ');
    const holds = point === '/' || path === point || path.startsWith(`${point}/`);
    // Of mounts at one place the last one counts.
    if (holds && point.length >= best.point.length) best = { point, options };
  }
  return !best.options.split(',').includes('noexec');
}
