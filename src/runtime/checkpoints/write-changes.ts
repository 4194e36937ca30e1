/**
 * Makes a directory hold what a view does, for the paths of some differences. Content is staged in the directory first and put
 * in place by renames, so each file is the old or the new one at any moment; to do it again finishes what was interrupted.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { removeTree } from '../../base/remove-tree.js';
import { Pace } from '../../cell/executor/files/pace.js';
import type { Difference } from './compare.js';
import { copyEntry, createFile } from './copy-entry.js';
import { Folder } from './layer-folder.js';
import { type View, ViewFolder, withEntry } from './workspace-view.js';

export interface Write extends Difference {
  /** Content in place of the view's, where two changes to one file were merged. */
  readonly merged?: Buffer | undefined;
}

const stagingPrefix = '.workcell-apply-';

export async function writeChanges(target: string, source: View, writes: readonly Write[]): Promise<void> {
  if (writes.length === 0) return;
  using root = Folder.open(target, { unlock: true });
  removeStale(root);
  const staging = `${stagingPrefix}${process.pid}-${randomBytes(6).toString('hex')}`;
  mkdirSync(root.at(staging), { mode: 0o700 });
  try {
    using staged = root.child(staging) as Folder;
    await stage(staged, source, writes);
    const pace = new Pace(undefined);
    for (const write of [...writes].reverse()) {
      if (write.change === 'removed') inParent(root, write.path, remove);
      await pace.step();
    }
    for (const [index, { path, change, after }] of writes.entries()) {
      await pace.step();
      if (change === 'removed' || after === undefined) continue;
      inParent(root, path, (folder, name) => {
        if (after.kind !== 'directory') place(staged, String(index), folder, name);
        else if (change === 'added') makeDirectory(folder, name);
      });
    }
    // Last, from the inside out: a mode may keep this side out.
    for (const { path, after } of [...writes].reverse())
      if (after?.kind === 'directory')
        inParent(root, path, (folder, name) => {
          using directory = folder.child(name);
          if (directory !== undefined) directory.mode(after.mode);
        });
  } finally {
    removeTree(`${root.base}/${staging}`);
  }
}

async function stage(staged: Folder, source: View, writes: readonly Write[]): Promise<void> {
  using view = ViewFolder.open(source);
  for (const [index, { path, change, after, merged }] of writes.entries()) {
    if (change === 'removed' || after === undefined || after.kind === 'directory') continue;
    if (merged !== undefined)
      await createFile(staged, String(index), after.mode, (file) => writeFileSync(file, merged));
    else
      await withEntry(view, path, async (found) => {
        if (found !== undefined)
          await copyEntry(found.folder, found.name, found.stats, staged, String(index));
      });
  }
}

/** A socket is not staged on another file system. */
function place(staged: Folder, index: string, folder: Folder, name: string): void {
  if (staged.stat(index) !== undefined) renameSync(staged.at(index), folder.at(name));
}

/** Calls `use` with the directory of a path; not at all when it is gone, or is none. */
function inParent(root: Folder, path: string, use: (folder: Folder, name: string) => void): void {
  const names = path.split('/');
  const last = names.pop() ?? '';
  const opened: Folder[] = [];
  try {
    let folder = root;
    for (const name of names) {
      const next = folder.child(name);
      if (next === undefined) return;
      opened.push(next);
      folder = next;
    }
    use(folder, last);
  } finally {
    for (const folder of opened.reverse()) folder[Symbol.dispose]();
  }
}

/** A directory that somebody else has put something into stays. */
function remove(folder: Folder, name: string): void {
  const stats = folder.stat(name);
  if (stats === undefined) return;
  if (!stats.isDirectory()) {
    unlinkSync(folder.at(name));
    return;
  }
  try {
    rmdirSync(folder.at(name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
  }
}

function makeDirectory(folder: Folder, name: string): void {
  if (folder.stat(name)?.isDirectory()) return;
  mkdirSync(folder.at(name), { mode: 0o700 });
}

/** What a process that was killed left. */
function removeStale(root: Folder): void {
  for (const name of readdirSync(root.base).filter((entry) => entry.startsWith(stagingPrefix))) {
    const pid = Number.parseInt(name.slice(stagingPrefix.length), 10);
    if (pid > 0 && !isAlive(pid)) removeTree(`${root.base}/${name}`);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
