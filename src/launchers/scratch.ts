/**
 * Temporary directories of this process. Their common parent carries the name of its owner, so that what a killed
 * process could not remove is removed by the next one that starts.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readProcess } from './process-table.js';

let root: string | undefined;

/** Makes a directory that only this user can enter. It goes at the latest with this process. */
export function makeScratch(purpose: string): string {
  if (root === undefined) {
    const parent = mkdtempSync(join(tmpdir(), ownedPrefix()));
    root = parent;
    process.once('exit', () => removeTree(parent));
    void sweep();
  }
  return mkdtempSync(join(root, `${purpose}-`));
}

/** The beginning of a name that tells later processes whose it is. */
export function ownedPrefix(): string {
  return `workcell-${owner(process.pid)}-`;
}

/** True for a name whose owner is gone for certain. */
export function isAbandoned(name: string): boolean {
  const match = /^workcell-(\d+)-(\d+)-(\d+)-/.exec(name);
  // A process in another process namespace cannot be looked up from here, so what it owns is left alone.
  return match !== null && match[1] === namespace() && match[0] !== `workcell-${owner(Number(match[2]))}-`;
}

/**
 * Removes a directory with all that is in it, whatever a program made of it: one that is nested deeper than Node can
 * follow, or whose permissions keep its own owner out, needs the system's own tools.
 */
export function removeTree(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    spawnSync('chmod', ['-R', 'u+rwX', '--', path], { stdio: 'ignore' });
    spawnSync('rm', ['-rf', '--', path], { stdio: 'ignore' });
  }
}

/** Removes what owners that are gone have left. Nobody waits for it and a failure is the next one's to try again. */
async function sweep(): Promise<void> {
  const names = readdirSync(tmpdir()).filter(isAbandoned);
  await Promise.allSettled(names.map((name) => rm(join(tmpdir(), name), { recursive: true, force: true })));
}

/** Names a process so that a later one with the same id is not taken for it. */
function owner(pid: number): string {
  return `${namespace()}-${pid}-${readProcess(pid)?.startTicks ?? 0}`;
}

function namespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  } catch {
    return '0';
  }
}
