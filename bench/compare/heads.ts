/** Two heads of the repository side by side, each able to run its own measurements. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Line, Measured } from '../line.js';

export type Report = Pick<Line, 'name'> & Measured;

const here = fileURLToPath(new URL('../..', import.meta.url));

/** A built checkout of that commit, removed with its last use. */
export function checkOut(commit: string): { folder: string } & Disposable {
  const parent = mkdtempSync(join(tmpdir(), 'workcell-compare-'));
  const folder = join(parent, 'head');
  const drop = () => {
    spawnSync('git', ['worktree', 'remove', '--force', folder], { cwd: here });
    rmSync(parent, { recursive: true, force: true });
  };
  try {
    command(here, 'git', 'worktree', 'add', '--quiet', '--detach', folder, commit);
    // Both heads then run on the same files of their dependencies.
    if (lockOf(folder) === lockOf(here))
      symlinkSync(join(here, 'node_modules'), join(folder, 'node_modules'));
    else command(folder, 'npm', 'install', '--no-save', '--no-progress', '--loglevel=error');
    command(folder, 'npm', 'run', '--silent', 'build');
  } catch (error) {
    drop();
    throw error;
  }
  return { folder, [Symbol.dispose]: drop };
}

/** The head that you work on, changes that nobody committed included. */
export function buildHere(): { folder: string } {
  command(here, 'npm', 'run', '--silent', 'build');
  return { folder: here };
}

/** What one head measures on those lines. A line that it does not know is left out. */
export function measure(head: { folder: string }, lines: readonly string[]): Report[] {
  const tsx = join(here, 'node_modules/.bin/tsx');
  const { stdout, stderr, error } = spawnSync(tsx, [join(head.folder, 'bench/run.ts'), ...lines, '--json'], {
    cwd: head.folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error) throw error;
  const reports = stdout.split('\n').filter((line) => line.startsWith('{'));
  if (reports.length === 0)
    throw new Error(`The measurements in ${head.folder} gave nothing: ${stderr.trim()}`);
  return reports.map((line) => JSON.parse(line) as Report);
}

function lockOf(folder: string): string {
  return readFileSync(join(folder, 'package-lock.json'), 'utf8');
}

function command(cwd: string, program: string, ...argv: string[]): void {
  const { status, stderr, error } = spawnSync(program, argv, { cwd, encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ${argv.join(' ')} failed: ${stderr.trim()}`);
}
