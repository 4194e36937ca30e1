/** Moves and copies. The result appears under its name at once, or not at all. */
import { lstatSync, type Stats } from 'node:fs';
import { Pace } from '../../../base/pace.js';
import { copyInto } from './copy-tree.js';
import { at, type Name } from './directory.js';
import { explained, isErrno, problem, quote, refusal } from './file-errors.js';
import type { Tree } from './file-tree.js';
import { renameFile } from './free-space.js';
import { hiddenName } from './new-file.js';
import { checkNotRoot, removeTree } from './remove.js';
import type { Place } from './resolve-beneath.js';

export interface TransferOptions {
  readonly overwrite?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Transferred {
  readonly from: string;
  readonly to: string;
  /** Files and links; 0 for a move within one file system. */
  readonly files: number;
}

export function move(tree: Tree, from: string, to: string, options: TransferOptions): Promise<Transferred> {
  return transfer(tree, { verb: 'move', from, to, options }, async (source, target, pace) => {
    try {
      await put(tree, source, target, options);
      return 0;
    } catch (error) {
      if (!isErrno(error, 'EXDEV')) throw error;
    }
    const files = await copyInPlace(tree, source, target, pace, options);
    await removeTree(source.directory, source.name, new Pace(undefined));
    return files;
  });
}

export function copy(tree: Tree, from: string, to: string, options: TransferOptions): Promise<Transferred> {
  return transfer(tree, { verb: 'copy', from, to, options }, async (source, target, pace) => {
    if (isBeneath(target.names, source.names)) {
      throw problem(
        'invalid-action',
        `Cannot copy ${quote(from)} into itself. Choose a target elsewhere.`,
        from,
      );
    }
    return copyInPlace(tree, source, target, pace, options);
  });
}

type Work = (source: Place, target: Place, pace: Pace) => Promise<number>;

function transfer(
  tree: Tree,
  request: { verb: string; from: string; to: string; options: TransferOptions },
  work: Work,
): Promise<Transferred> {
  const { verb, from, to, options } = request;
  return explained(verb, from, async () => {
    // Sees what the changes before it have done.
    const [place, existing] = await tree.inOrder(async () => findSource(tree, from, verb));
    using source = place;
    return await explained(`${verb} to`, to, async () => {
      using target = tree.resolve(to, { follow: false, create: true });
      checkNotRoot(target, to, 'replaced');
      const replaced = lstatSync(at(target.directory, target.name), { throwIfNoEntry: false });
      const done = { from: source.path, to: target.path };
      if (replaced !== undefined && !options.overwrite) throw refusal('EEXIST');
      if (replaced?.ino === existing.ino && replaced.dev === existing.dev) return { ...done, files: 0 };
      return { ...done, files: await work(source, target, new Pace(options.signal)) };
    });
  });
}

function findSource(tree: Tree, from: string, verb: string): [Place, Stats] {
  const source = tree.resolve(from, { follow: false });
  try {
    checkNotRoot(source, from, verb === 'move' ? 'moved' : 'copied');
    const existing = lstatSync(at(source.directory, source.name), { throwIfNoEntry: false });
    if (existing === undefined) throw refusal('ENOENT');
    return [source, existing];
  } catch (error) {
    source[Symbol.dispose]();
    throw error;
  }
}

async function copyInPlace(
  tree: Tree,
  source: Place,
  target: Place,
  pace: Pace,
  options: TransferOptions,
): Promise<number> {
  const hidden = hiddenName();
  try {
    const files = await copyInto(source, { directory: target.directory, name: hidden }, pace, options.signal);
    await put(tree, { directory: target.directory, name: hidden }, target, options);
    return files;
  } catch (error) {
    await removeTree(target.directory, hidden, new Pace(undefined));
    throw error;
  }
}

type Spot = Pick<Place, 'directory' | 'name'>;

/** Renames. Puts a directory in the way, which a rename does not replace, aside first and removes it after. */
async function put(tree: Tree, source: Spot, target: Spot, { overwrite }: TransferOptions): Promise<void> {
  const aside = await tree.inOrder(() => exchange(source, target, overwrite));
  // It is done and nobody can cancel it any more.
  if (aside !== undefined) await removeTree(target.directory, aside, new Pace(undefined));
}

/** Returns the name of what was put aside. */
async function exchange(
  source: Spot,
  target: Spot,
  overwrite: boolean | undefined,
): Promise<Name | undefined> {
  const goal = at(target.directory, target.name);
  // Another change may have put something there since we looked.
  if (!overwrite && lstatSync(goal, { throwIfNoEntry: false }) !== undefined) throw refusal('EEXIST');
  try {
    await renameFile(at(source.directory, source.name), goal);
    return undefined;
  } catch (error) {
    if (!isErrno(error, 'ENOTEMPTY', 'EEXIST', 'EISDIR', 'ENOTDIR')) throw error;
  }
  const aside = hiddenName();
  await renameFile(goal, at(target.directory, aside));
  try {
    await renameFile(at(source.directory, source.name), goal);
  } catch (error) {
    await renameFile(at(target.directory, aside), goal);
    throw error;
  }
  return aside;
}

function isBeneath(names: readonly string[], ancestor: readonly string[]): boolean {
  return names.length > ancestor.length && ancestor.every((name, index) => names[index] === name);
}
