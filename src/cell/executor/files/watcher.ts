/**
 * Watches directories one by one. It holds each directory open while it sets the watch, so that links lead nowhere.
 * Changes and directories wait in a queue: the operating system hands out changes for as long as there are any, so a
 * cell that makes them without end would keep this process from everything else.
 */
import { type FSWatcher, lstatSync, watch } from 'node:fs';
import { Pace } from '../../../base/pace.js';
import type { FileChange } from '../../../protocol/index.js';
import { WorkcellError } from '../../../protocol/index.js';
import { at, type Directory } from './directory.js';
import { errnoOf, isErrno } from './file-errors.js';
import type { Tree } from './file-tree.js';
import { isHiddenName } from './new-file.js';
import { listEntries } from './read-entries.js';
import { maxDepth } from './visit.js';

export interface WatcherOptions {
  readonly recursive: boolean;
  /** `relativePath` is from the watched directory. */
  readonly onChange: (change: FileChange['change'], relativePath: string) => void;
  /** After this many changes in one turn of this process the watch restarts. The kernel queues fewer by itself. */
  readonly mostInTurn?: number | undefined;
}

const maxDirectories = 16_384;
const defaultMostInTurn = 20_000;
/** Most directories that may wait for a look. */
const mostWaiting = 100_000;
/** How long to ignore changes after there were too many. */
const restMs = 500;

interface Known {
  readonly inode: number;
  /** The system may reuse an inode number at once for a file that replaces a removed one. */
  readonly bornMs: number;
  readonly isDirectory: boolean;
}

interface Watched {
  readonly watcher: FSWatcher;
  readonly known: Map<string, Known>;
}

interface Change {
  readonly path: string;
  readonly watched: Watched;
  readonly event: string;
  readonly name: string;
}

/** A directory to watch and to look through. */
interface Found {
  readonly path: string;
  /** Whether to report its content. */
  readonly report: boolean;
}

export class Watcher {
  readonly #tree: Tree;
  readonly #names: readonly string[];
  readonly #options: WatcherOptions;
  /** By relative path; empty for the watched directory itself. */
  #watched = new Map<string, Watched>();
  /** What we knew of each directory before the watch restarted. */
  #before = new Map<string, Map<string, Known>>();
  #found: Found[] = [];
  #changes: Change[] = [];
  #inTurn = 0;
  #work: Promise<void> | undefined;
  #rest: NodeJS.Timeout | undefined;
  #closed = false;

  /** `names` lead from the root of the tree to the directory, without links. */
  constructor(tree: Tree, names: readonly string[], options: WatcherOptions) {
    this.#tree = tree;
    this.#names = names;
    this.#options = options;
  }

  /** Once this settles, the watch misses no change. */
  async start(): Promise<void> {
    const pace = new Pace(undefined);
    await this.#add({ path: '', report: false }, pace);
    while (this.#found.length > 0 && !this.#closed) await this.#addNext(pace);
    this.#go();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#rest);
    this.#found = [];
    this.#changes = [];
    for (const { watcher } of this.#watched.values()) watcher.close();
    this.#watched.clear();
  }

  /** Works through the queue, unless that is already in progress. */
  #go(): void {
    if (this.#found.length + this.#changes.length > 0) this.#work ??= this.#run();
  }

  async #run(): Promise<void> {
    const pace = new Pace(undefined);
    while (!this.#closed && this.#found.length + this.#changes.length > 0) {
      if (this.#found.length > 0) {
        await this.#addNext(pace);
        continue;
      }
      // Take a part at a time, because taking entries one by one from the front of a long list is slow.
      const part = this.#changes.splice(0, 512);
      for (const change of part) {
        await pace.step();
        this.#apply(change);
      }
    }
    this.#work = undefined;
  }

  async #addNext(pace: Pace): Promise<void> {
    try {
      await this.#add(this.#found.pop() as Found, pace);
    } catch (error) {
      // Somebody moved or removed the directory, we may not read it, or we cannot watch it as well.
      if (errnoOf(error) === undefined && !WorkcellError.isInstance(error)) throw error;
    }
  }

  /** Sets the watch first and looks second: both see what appears in between, and we report it once. */
  async #add({ path, report }: Found, pace: Pace): Promise<void> {
    if (this.#watched.size >= maxDirectories || path.split('/').length > maxDepth) return;
    const directory = this.#open(path);
    try {
      const watcher = setWatch(directory);
      const known = this.#before.get(path) ?? new Map<string, Known>();
      this.#before.delete(path);
      const watched: Watched = { watcher, known };
      this.#watched.set(path, watched);
      watcher.on('error', () => this.#drop(path));
      watcher.on('change', (event, name) => this.#note({ path, watched, event, name: String(name) }));
      const missing = new Set(known.keys());
      const { entries } = await listEntries(directory, pace);
      for (const { text } of entries) {
        await pace.step();
        if (this.#watched.get(path) !== watched) return;
        missing.delete(text);
        if (!isHiddenName(text)) this.#meet(directory, path, watched, text, report);
      }
      for (const name of missing) this.#meet(directory, path, watched, name, report);
    } finally {
      directory.close();
    }
  }

  /** Only notes the change, because another one may follow at once. */
  #note(change: Change): void {
    // Do not report names that exist only until a write is complete.
    if (isHiddenName(change.name) || this.#watched.get(change.path) !== change.watched) return;
    if (this.#inTurn === 0)
      setImmediate(() => {
        this.#inTurn = 0;
      });
    const isFlood = ++this.#inTurn > (this.#options.mostInTurn ?? defaultMostInTurn);
    if (isFlood || this.#changes.length > mostWaiting) {
      this.#setAnew();
      return;
    }
    this.#changes.push(change);
    this.#go();
  }

  /** Stops listening, and finds out later what changed by comparing. */
  #setAnew(): void {
    for (const [path, { watcher, known }] of this.#watched) {
      watcher.close();
      this.#before.set(path, known);
    }
    this.#watched.clear();
    this.#found = [];
    this.#changes = [];
    this.#rest = setTimeout(() => {
      this.#found.push({ path: '', report: true });
      this.#go();
    }, restMs);
  }

  #apply({ path, watched, event, name }: Change): void {
    if (this.#watched.get(path) !== watched) return;
    if (event !== 'rename') {
      if (watched.known.get(name)?.isDirectory === false)
        this.#options.onChange('modified', join(path, name));
      return;
    }
    try {
      const directory = this.#open(path);
      try {
        this.#meet(directory, path, watched, name, true);
      } finally {
        directory.close();
      }
    } catch (error) {
      // Somebody moved or removed the directory; its parent reports that.
      if (errnoOf(error) === undefined && !WorkcellError.isInstance(error)) throw error;
    }
  }

  /** Compares the file under a name with what we knew of it. */
  #meet(directory: Directory, path: string, watched: Watched, name: string, report: boolean): void {
    const stats = lstatSync(at(directory, name), { throwIfNoEntry: false });
    const before = watched.known.get(name);
    const relativePath = join(path, name);
    const isSame =
      stats !== undefined &&
      before?.inode === stats.ino &&
      before.bornMs === stats.birthtimeMs &&
      before.isDirectory === stats.isDirectory();
    const isWatched = this.#watched.has(relativePath);
    if (isSame && (isWatched || !before.isDirectory)) return;
    if (!isSame && before?.isDirectory) this.#drop(relativePath);
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
    if (report && !isSame)
      this.#options.onChange(before === undefined ? 'created' : 'modified', relativePath);
    if (stats.isDirectory() && this.#options.recursive) this.#found.push({ path: relativePath, report });
  }

  #drop(path: string): void {
    for (const [watchedPath, { watcher }] of this.#watched) {
      if (watchedPath !== path && !watchedPath.startsWith(`${path}/`)) continue;
      watcher.close();
      this.#watched.delete(watchedPath);
    }
    for (const known of this.#before.keys())
      if (known === path || known.startsWith(`${path}/`)) this.#before.delete(known);
  }

  #open(path: string): Directory {
    let directory = this.#tree.root.open('.');
    try {
      for (const name of [...this.#names, ...path.split('/')]) {
        if (name === '') continue;
        const next = directory.open(name);
        directory.close();
        directory = next;
      }
      return directory;
    } catch (error) {
      directory.close();
      throw error;
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
      'This machine cannot watch so many directories. Watch a smaller part, or raise fs.inotify.max_user_watches.',
      { cause: error },
    );
  }
}

function join(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`;
}
