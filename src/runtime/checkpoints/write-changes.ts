/**
 * Makes a directory hold what a view does, for the paths of some differences. Content is staged in the directory first and put
 * in place by renames, so each file is the old or the new one at any moment. What goes for good goes last: a process that is
 * killed leaves all the old content or the new one, and what it had not yet put in place in the directory it staged it in.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmdirSync, type Stats, unlinkSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { Pace } from '../../base/pace.js';
import { removeTree } from '../../base/remove-tree.js';
import { WorkcellError } from '../../protocol/index.js';
import type { Difference } from './compare.js';
import { copyEntry, copyFailure, createFile } from './copy-entry.js';
import { Folder, Handle, textOf } from './layer-folder.js';
import { type View, ViewFolder, withEntry } from './workspace-view.js';

export interface Write extends Difference {
  /** Content in place of the view's, where two changes to one file were merged. */
  readonly merged?: Buffer | undefined;
  /** What is there now, by `stateOf`. What somebody changed since is left alone. Default: whatever it is. */
  readonly expected?: string | undefined;
  /** Makes the directories above it that are missing. */
  readonly makesParents?: boolean | undefined;
}

export interface Written {
  /** The state of each entry after it was written, by path. */
  readonly states: ReadonlyMap<string, string>;
  /** Those left alone, because they changed after the plan was made. */
  readonly late: ReadonlySet<string>;
}

/** Tells one state of an entry from later ones; all that are gone are the same. */
export function stateOf(stats: Stats | undefined): string {
  if (stats === undefined) return 'gone';
  const { ino, size, mtimeMs, ctimeMs, mode } = stats;
  return stats.isDirectory() ? 'directory' : `${ino} ${size} ${mtimeMs} ${ctimeMs} ${mode}`;
}

export const stagingPrefix = '.workcell-apply-';

export async function writeChanges(target: string, source: View, writes: readonly Write[]): Promise<Written> {
  const writing = new Writing();
  if (writes.length === 0) return writing;
  using root = Folder.open(target, { unlock: true });
  const staging = `${stagingPrefix}${process.pid}-${randomBytes(6).toString('hex')}`;
  try {
    mkdirSync(root.at(staging), { mode: 0o700 });
    using staged = root.child(staging) as Folder;
    await stage(staged, source, writes);
    await writing.all(root, staged, writes);
  } catch (cause) {
    throw copyFailure(cause);
  } finally {
    removeTree(`${root.base}/${staging}`);
  }
  return writing;
}

/** `place`: what could not go back whole. */
export function notWritten(place: string, paths: readonly string[]): WorkcellError {
  return new WorkcellError(
    'internal',
    `Something changed ${place} while it went back, so ${paths.length} entries are not as they were. Go back again.`,
    { details: { paths: paths.slice(0, 20).map(textOf) } },
  );
}

/** What to do first, next and last: what goes for good goes when all else is in place. */
export interface Order {
  /** Gives way to what is placed. */
  readonly inTheWay: readonly Write[];
  /** With their numbers, by which their content is staged. */
  readonly placed: [number, Write][];
  readonly removals: readonly Write[];
}

export function inOrder(writes: readonly Write[]): Order {
  const placed = [...writes.entries()].filter(([, { change }]) => change !== 'removed');
  const removals = writes.filter(({ change }) => change === 'removed').reverse();
  const leaving = new Set(removals.map(({ path }) => path));
  const replaced = new Set(placed.map(([, { path }]) => path).filter((path) => leaving.has(path)));
  const [inTheWay, others]: [Write[], Write[]] = [[], []];
  for (const write of removals) (isWithin(write.path, replaced) ? inTheWay : others).push(write);
  return { inTheWay, placed, removals: others };
}

class Writing implements Written {
  readonly states = new Map<string, string>();
  readonly late = new Set<string>();
  readonly #pace = new Pace(undefined);

  async all(root: Folder, staged: Folder, writes: readonly Write[]): Promise<void> {
    const { inTheWay, placed, removals } = inOrder(writes);
    for (const write of inTheWay) await this.#remove(root, write);
    for (const [index, write] of placed) await this.#place(root, staged, String(index), write);
    for (const write of removals) await this.#remove(root, write);
    // Last, from the inside out: a mode may keep this side out.
    for (const [, { path, after }] of placed.reverse())
      if (after?.kind === 'directory')
        inParent(root, path, (folder, name) => {
          using directory = folder.child(name);
          if (directory !== undefined) directory.mode(after.mode);
        });
  }

  async #remove(root: Folder, { path, expected }: Write): Promise<void> {
    await this.#pace.step();
    inParent(root, path, (folder, name) => {
      if (!this.#isAsExpected(folder, name, path, expected)) return;
      remove(folder, name);
      this.#note(folder, name, path);
    });
  }

  async #place(root: Folder, staged: Folder, index: string, write: Write): Promise<void> {
    const { path, after, expected, makesParents } = write;
    await this.#pace.step();
    const use = (folder: Folder, name: string) => {
      // What was in the way is gone by now.
      const due = this.states.get(path) ?? expected;
      if (!this.#isAsExpected(folder, name, path, due)) return;
      if (after?.kind === 'directory') makeDirectory(folder, name);
      else if (folder.stat(name)?.isDirectory()) this.late.add(path);
      else place(staged, index, folder, name);
      this.#note(folder, name, path);
    };
    const isReached = inParent(root, path, use, makesParents);
    if (!isReached) this.late.add(path);
  }

  #isAsExpected(folder: Folder, name: string, path: string, expected: string | undefined): boolean {
    if (expected === undefined || stateOf(folder.stat(name)) === expected) return true;
    this.late.add(path);
    return false;
  }

  #note(folder: Folder, name: string, path: string): void {
    this.states.set(path, stateOf(folder.stat(name)));
  }
}

/** Whether it is one of some paths, or below one. */
function isWithin(path: string, others: ReadonlySet<string>): boolean {
  for (let at = path; at !== '.'; at = posix.dirname(at)) if (others.has(at)) return true;
  return false;
}

/** Each file under its number, and a list that says where it belongs, for who finds them after a kill. */
async function stage(staged: Folder, source: View, writes: readonly Write[]): Promise<void> {
  using view = ViewFolder.open(source);
  for (const [index, { path, change, after, merged }] of writes.entries()) {
    if (change === 'removed' || after === undefined || after.kind === 'directory') continue;
    if (merged !== undefined)
      await createFile(staged, String(index), after.mode, (file) => writeFileSync(file, merged));
    else
      await withEntry(view, path, async (found) => {
        if (found === undefined) throw missing(textOf(path));
        await copyEntry(found.folder, found.name, found.stats, staged, String(index));
        if (after.kind === 'file' && (found.stats.mode & 0o7777) !== after.mode) {
          using copy = Handle.open(staged, String(index));
          copy?.mode(after.mode);
        }
      });
  }
  const list = writes.map(({ path, change }, index) => ({ staged: index, change, path: textOf(path) }));
  await createFile(staged, 'list.json', 0o600, (file) => writeFileSync(file, JSON.stringify(list)));
}

/** Without it, what is there now would stay, and count as written. */
function missing(path: string): Error {
  const message = `${JSON.stringify(path)} has gone from where its new content comes from, so nothing is written. Try again.`;
  return new WorkcellError('file-changed', message, { details: { path } });
}

/** A socket is not staged. */
function place(staged: Folder, index: string, folder: Folder, name: string): void {
  if (staged.stat(index) !== undefined) renameSync(staged.at(index), folder.at(name));
}

/** Calls `use` with the directory of a path; not at all, and answers false, when it is gone, or is none. */
function inParent(
  root: Folder,
  path: string,
  use: (folder: Folder, name: string) => void,
  makesParents = false,
): boolean {
  const names = path.split('/');
  const last = names.pop() ?? '';
  const opened: Folder[] = [];
  try {
    let folder = root;
    for (const name of names) {
      if (makesParents && folder.stat(name) === undefined) mkdirSync(folder.at(name));
      const next = folder.child(name);
      if (next === undefined) return false;
      opened.push(next);
      folder = next;
    }
    use(folder, last);
    return true;
  } finally {
    for (const folder of opened.reverse()) folder[Symbol.dispose]();
  }
}

/**
 * A directory that somebody else has put something into stays. So does one that a running overlay remembers from below and that
 * is gone there: the kernel lets nobody remove it.
 */
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
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' && code !== 'ENOENT') throw error;
  }
}

function makeDirectory(folder: Folder, name: string): void {
  const stats = folder.stat(name);
  if (stats?.isDirectory()) return;
  if (stats !== undefined) unlinkSync(folder.at(name));
  mkdirSync(folder.at(name), { mode: 0o700 });
}
