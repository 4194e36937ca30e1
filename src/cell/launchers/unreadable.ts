/**
 * Copies of programs that a cell may execute but not read.
 *
 * The kernel lets no process look into one whose program its user may not read. Nothing can open its memory,
 * environment and descriptors through the process file system or trace it, except with a capability that no program
 * in a cell has. Its forks have the same protection until they execute an ordinary program. So a control channel
 * whose inner end only such processes hold is out of reach of all other programs of the same user.
 */
import { chmodSync, copyFileSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Makes the copy in a directory that only this user may write to. */
export function unreadableCopy(program: string, directory: string): string {
  const path = join(directory, basename(program));
  copyFileSync(program, path);
  chmodSync(path, 0o111);
  return path;
}

/** Whether programs can start from there: a mount may forbid it. */
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
