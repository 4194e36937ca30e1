/** The ignore files on the way from the root of the tree to where a search is. */
import { constants } from 'node:fs';
import { readWhole } from '../bytes.js';
import type { Directory } from '../directory.js';
import { errnoOf } from '../file-errors.js';
import type { Tree } from '../file-tree.js';
import { closeFile } from '../free-space.js';
import { IgnoreRules, mostSteps, type Verdict } from './ignore-rules.js';

/** Each rule costs time for each file, so a file full of them must not be long. */
const maxFileBytes = 64 * 1024;
/** In the order of their weight. */
const fileNames = ['.rgignore', '.ignore', '.gitignore'] as const;

type Level = { readonly prefix: string } & {
  readonly [Name in (typeof fileNames)[number]]?: IgnoreRules | undefined;
};

export class IgnoreStack {
  readonly #levels: Level[] = [];

  /** Reads the ignore files of a directory. `path` is the directory's, from the root of the tree; empty for the root. */
  enter(directory: Directory, path: string): void {
    const level: Record<string, IgnoreRules | undefined> = {};
    for (const name of fileNames) level[name] = readRules(directory, name);
    this.#levels.push({ prefix: path === '' ? '' : `${path}/`, ...level });
  }

  leave(): void {
    this.#levels.pop();
  }

  /** Whether a directory on the current path has an ignore file. */
  get hasRules(): boolean {
    return this.#levels.some((level) => fileNames.some((name) => level[name] !== undefined));
  }

  /** The nearest rule decides, but a file with more weight outweighs all others. */
  judge(path: string, isDirectory: boolean): Verdict {
    const steps = { left: mostSteps };
    for (const name of fileNames) {
      for (let index = this.#levels.length - 1; index >= 0; index--) {
        const level = this.#levels[index];
        const verdict = level?.[name]?.judge(path.slice(level.prefix.length), isDirectory, steps);
        if (verdict !== undefined) return verdict;
      }
    }
    return undefined;
  }
}

/**
 * The rules of the directories above the one with these names, without its own: a walk that starts there enters it
 * later.
 */
export function ignoresAbove(tree: Tree, names: readonly string[]): IgnoreStack {
  const ignores = new IgnoreStack();
  let directory = tree.root.open('.');
  try {
    for (const [index, name] of names.entries()) {
      ignores.enter(directory, names.slice(0, index).join('/'));
      const next = directory.open(name);
      directory.close();
      directory = next;
    }
  } catch (error) {
    // Somebody changed the path meanwhile; the search itself holds what it opened.
    if (errnoOf(error) === undefined) throw error;
  } finally {
    directory.close();
  }
  return ignores;
}

function readRules(directory: Directory, name: string): IgnoreRules | undefined {
  let fd: number;
  try {
    fd = directory.openFile(name, constants.O_RDONLY).fd;
  } catch (error) {
    // One that is missing, unreadable or no regular file has no rules.
    if (errnoOf(error) !== undefined) return undefined;
    throw error;
  }
  try {
    return new IgnoreRules(readWhole(fd, 4096, maxFileBytes).toString());
  } finally {
    closeFile(fd);
  }
}
