/** Watches directories one by one, each held open while the watch on it is set, so that links lead nowhere. */
import { type FSWatcher, lstatSync, watch } from 'node:fs';
import type { FileChange } from '../../../protocol/index.js';
import { WorkcellError } from '../../../protocol/index.js';
import { at, type Directory, entries } from './directory.js';
import { errnoOf, isErrno } from './errors.js';
import { isHiddenName } from './new-file.js';
import type { Tree } from './tree.js';
import { maxDepth } from './visit.js';

export interface WatcherOptions {
  readonly recursive: boolean;
  /** `relativePath` is from the watched directory. */
  readonly onChange: (change: FileChange['change'], relativePath: string) => void;
}

const maxDirectories = 16_384;

interface Known {
  readonly inode: number;
  /** A number may be given again at once to what takes the place of something removed. */
  readonly bornMs: number;
  readonly isDirectory: boolean;
}

interface Watched {
  readonly watcher: FSWatcher;
  readonly known: Map<string, Known>;
}

export class Watcher {
  readonly #tree: Tree;
  readonly #names: readonly string[];
  readonly #options: WatcherOptions;
  /** By relative path; empty for the watched directory itself. */
  readonly #watched = new Map<string, Watched>();

  /** `names` lead from the root of the tree to the directory, without links. */
  constructor(tree: Tree, names: readonly string[], options: WatcherOptions) {
    this.#tree = tree;
    this.#names = names;
    this.#options = options;
  }

  /** Once this returns, no change is missed. */
  start(): void {
    this.#inDirectory('', (directory) => this.#add(directory, '', false));
  }

  close(): void {
    for (const { watcher } of this.#watched.values()) watcher.close();
    this.#watched.clear();
  }

  /** Sets the watch first and looks second: what appears in between is seen by both and reported once. */
  #add(directory: Directory, path: string, isNew: boolean): void {
    if (this.#watched.size >= maxDirectories || path.split('/').length > maxDepth) return;
    const watcher = setWatch(directory);
    const watched: Watched = { watcher, known: new Map() };
    this.#watched.set(path, watched);
    watcher.on('error', () => this.#drop(path));
    watcher.on('change', (event, name) => {
      if (this.#watched.get(path) === watched) this.#onEvent(path, watched, event, String(name));
    });
    for (const entry of entries(directory)) {
      if (isHiddenName(entry.text)) continue;
      this.#meet(directory, path, watched, entry.text, isNew);
    }
  }

  #onEvent(path: string, watched: Watched, event: string, name: string): void {
    // Names that only exist until a write is complete are not told about.
    if (isHiddenName(name)) return;
    try {
      this.#inDirectory(path, (directory) => {
        if (event === 'rename') this.#meet(directory, path, watched, name, true);
        else if (watched.known.get(name)?.isDirectory === false)
          this.#options.onChange('modified', join(path, name));
      });
    } catch (error) {
      // The directory was moved or removed; its parent reports that.
      if (errnoOf(error) === undefined && !WorkcellError.isInstance(error)) throw error;
    }
  }

  /** Compares what is under a name with what was known to be there. */
  #meet(directory: Directory, path: string, watched: Watched, name: string, report: boolean): void {
    const stats = lstatSync(at(directory, name), { throwIfNoEntry: false });
    const before = watched.known.get(name);
    const relativePath = join(path, name);
    const isSame =
      stats !== undefined &&
      before?.inode === stats.ino &&
      before.bornMs === stats.birthtimeMs &&
      before.isDirectory === stats.isDirectory();
    if (isSame) return;
    if (before?.isDirectory) this.#drop(relativePath);
    if (stats === undefined) {
      if (before !== undefined) this.#options.onChange('removed', relativePath);
      watched.known.delete(name);
      return;
    }
    watched.known.set(name, {
      inode: stats.ino,
      bornMs: stats.birthtimeMs,
      isDirectory: stats.isDirectory(),
    });
    if (report) this.#options.onChange(before === undefined ? 'created' : 'modified', relativePath);
    if (stats.isDirectory() && this.#options.recursive) this.#enter(directory, name, relativePath, report);
  }

  #enter(parent: Directory, name: string, path: string, isNew: boolean): void {
    let directory: Directory | undefined;
    try {
      directory = parent.open(name);
      this.#add(directory, path, isNew);
    } catch (error) {
      if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'KERNEL')) throw error;
    } finally {
      directory?.close();
    }
  }

  #drop(path: string): void {
    for (const [watchedPath, { watcher }] of this.#watched) {
      if (watchedPath !== path && !watchedPath.startsWith(`${path}/`)) continue;
      watcher.close();
      this.#watched.delete(watchedPath);
    }
  }

  #inDirectory(path: string, work: (directory: Directory) => void): void {
    let directory = this.#tree.root.open('.');
    try {
      for (const name of [...this.#names, ...path.split('/')]) {
        if (name === '') continue;
        const next = directory.open(name);
        directory.close();
        directory = next;
      }
      work(directory);
    } finally {
      directory.close();
    }
  }
}

function setWatch(directory: Directory): FSWatcher {
  try {
    return watch(directory.base);
  } catch (error) {
    if (!isErrno(error, 'ENOSPC', 'EMFILE')) throw error;
    throw new WorkcellError(
      'capability-unsupported',
      'There are too many directories to watch on this machine. Watch a smaller part, or raise fs.inotify.max_user_watches.',
      { cause: error },
    );
  }
}

function join(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`;
}
