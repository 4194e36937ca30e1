/** The cell's files as seen from inside: resolves every path beneath one open root directory. */
import { existsSync } from 'node:fs';
import { WorkcellError } from '../../../protocol/index.js';
import type { FileTree } from '../../launchers/launcher.js';
import { type Directory, type OpenFile, openRoot } from './directory.js';
import { explained } from './file-errors.js';
import { PathSpace } from './paths.js';
import { openPortableRoot } from './portable-directory.js';
import { openOrMake, type Place, type WalkOptions, walk } from './resolve-beneath.js';

const hasDescriptorPaths = existsSync('/proc/self/fd');

/** A directory that we opened by its path. */
export interface OpenedDirectory extends Disposable {
  readonly directory: Directory;
  /** As seen from inside. */
  readonly path: string;
  /** All names from the root, links resolved. */
  readonly names: readonly string[];
}

export class Tree {
  readonly space: PathSpace;
  readonly #files: FileTree;
  readonly #closing = new AbortController();
  #root: Directory | undefined;
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor(files: FileTree) {
    this.#files = files;
    this.space = new PathSpace(files);
    this.#root = explained('open', files.root, () => open(files.root, true));
  }

  /** Aborts when the tree closes. */
  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  /** Where walks start. The tree may close it at any time, so nothing that waits may hold on to it. */
  get root(): Directory {
    if (this.#root === undefined)
      throw new WorkcellError('runtime-closed', 'The cell is closed; start a new one.');
    if (this.#root.isRemoved()) this.#reopen(this.#root);
    return this.#root;
  }

  /** Changes one after the other, so that none replaces what another has looked at. One change must not wait for another. */
  inOrder<Result>(change: () => Promise<Result>): Promise<Result> {
    const changed = this.#lastChange.then(change);
    this.#lastChange = changed.catch(() => {});
    return changed;
  }

  /** Finds where a path leads. The caller disposes of the place. */
  resolve(path: string, options: WalkOptions): Place {
    return walk(this.root, this.space, path, options);
  }

  /** Opens a directory, following links. The caller disposes of it. */
  openDirectory(path: string, options: { create?: boolean } = {}): OpenedDirectory {
    using place = this.resolve(path, { follow: true, create: options.create });
    const directory = options.create
      ? openOrMake(place.directory, place.name)
      : place.directory.open(place.name);
    return {
      directory,
      path: place.path,
      names: place.names,
      [Symbol.dispose]: () => directory.close(),
    };
  }

  /** Opens a regular file, following links. The caller closes the descriptor. */
  openFile(path: string, flags: number): OpenFile & { readonly path: string } {
    using place = this.resolve(path, { follow: true });
    return { ...place.directory.openFile(place.name, flags), path: place.path };
  }

  /** Checks that a path, where `.` is the workspace, names a directory. Returns its path as seen from inside. */
  checkDirectory(path: string): string {
    return explained('use as a directory', path, () => {
      using opened = this.openDirectory(path);
      return opened.path;
    });
  }

  /** Releases the root and ends what watches it. Resolves after the changes in line. Succeeds when called twice. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#root?.close();
    this.#root = undefined;
    await this.#lastChange;
  }

  /** Removing the workspace and creating it again makes a new directory under the old name. */
  #reopen(removed: Directory): void {
    const opened = explained('open', this.space.mount, () => open(this.#files.root, false));
    removed.close();
    this.#root = opened;
  }
}

function open(root: string, follow: boolean): Directory {
  return hasDescriptorPaths ? openRoot(root, follow) : openPortableRoot(root);
}
