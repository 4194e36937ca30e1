/** Paths as text: how paths inside the cell relate to the directory of the file verbs. */
import { realpathSync } from 'node:fs';
import { posix } from 'node:path';
import { WorkcellError } from '../../../protocol/index.js';
import type { FileTree } from '../../launchers/launcher.js';
import { problem, quote } from './file-errors.js';

export class PathSpace {
  /** The path of the root inside. */
  readonly mount: string;
  /** Where relative paths start, as seen from inside. */
  readonly workspace: string;
  /** True when the whole file system of the cell is reachable, so that `..` at the root stays there. */
  readonly isWhole: boolean;
  readonly #mounts: readonly (readonly string[])[];
  readonly #workspaceNames: readonly string[];

  constructor(files: FileTree) {
    this.mount = normalise(files.mount);
    this.workspace = normalise(files.workspace);
    this.isWhole = this.mount === '/';
    this.#mounts = mountAliases(files, this.mount).map(split);
    this.#workspaceNames = this.#beneathMount(this.workspace, files.workspace);
  }

  /** The names that lead from the root to the path, `..` included. Nothing has walked them yet. */
  names(path: string): string[] {
    if (path.includes('\0')) {
      throw new WorkcellError('invalid-action', `The path ${quote(path)} has a NUL character; leave it out.`);
    }
    if (path.startsWith('/')) return this.#beneathMount(path, path);
    return [...this.#workspaceNames, ...split(path)];
  }

  /** The names for the target of a symbolic link that starts with `/`; `path` is the caller's path. */
  linkNames(target: string, path: string): string[] {
    return this.#beneathMount(target, path);
  }

  /** The path as given, made absolute and tidy. Only right for a path without `..`. */
  absolute(path: string): string {
    return normalise(path.startsWith('/') ? path : `${this.workspace}/${path}`);
  }

  /** The path, as seen from inside, that the names lead to from the root. */
  inside(names: readonly string[]): string {
    if (names.length === 0) return this.mount;
    return `${this.isWhole ? '' : this.mount}/${names.join('/')}`;
  }

  /** Shortens an inside path to one that starts at the workspace, where it is in it. */
  fromWorkspace(path: string): string {
    if (path === this.workspace) return '.';
    const prefix = this.workspace === '/' ? '/' : `${this.workspace}/`;
    return path.startsWith(prefix) ? path.slice(prefix.length) : path;
  }

  outside(path: string): WorkcellError {
    return problem(
      'path-outside',
      `The path ${quote(path)} leads out of ${quote(this.mount)}, the only place that file verbs reach. Use a path beneath it.`,
      path,
    );
  }

  #beneathMount(absolute: string, path: string): string[] {
    const names = split(absolute);
    const mount = this.#mounts.find((candidate) => candidate.every((name, index) => names[index] === name));
    if (mount === undefined) throw this.outside(path);
    return names.slice(mount.length);
  }
}

/** The parts of a path, without empty ones and `.`. */
export function split(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

/** Adds a name to an inside path. */
export function joinInside(directory: string, name: string): string {
  return directory === '/' ? `/${name}` : `${directory}/${name}`;
}

/** Orders strings by code point, which is the order of their UTF-8 bytes. */
export function compareNames(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    // Surrogates encode code points above all others of the basic plane.
    if (left !== right)
      return isSurrogate(left) === isSurrogate(right) ? left - right : isSurrogate(left) ? 1 : -1;
  }
  return a.length - b.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

function normalise(path: string): string {
  const tidy = posix.normalize(path);
  return tidy.length > 1 && tidy.endsWith('/') ? tidy.slice(0, -1) : tidy;
}

/** You can also name a directory of this machine without the links on the way to it. */
function mountAliases(files: FileTree, mount: string): string[] {
  if (mount === '/' || normalise(files.root) !== mount) return [mount];
  try {
    return [mount, realpathSync(files.root)];
  } catch {
    return [mount];
  }
}
