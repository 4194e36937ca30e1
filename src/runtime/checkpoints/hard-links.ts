/** Files with several names, when a workspace goes back: names that were one file are one again, and others are apart. */
import { randomBytes } from 'node:crypto';
import { linkSync, renameSync, rmSync, type Stats } from 'node:fs';
import { Pace } from '../../base/pace.js';
import type { Difference } from './compare.js';
import { type Found, type View, ViewFolder, withEntry } from './workspace-view.js';
import { stagingPrefix } from './write-changes.js';

/** Paths in groups; those of one group are the names of one file. */
export type Links = readonly (readonly string[])[];

/** What to write anew beside `differences`: names that are one file now and were several, or none at all, in `after`. */
export async function partings(
  now: Links,
  wanted: Links,
  after: View,
  differences: readonly Difference[],
): Promise<Difference[]> {
  const groupOf = new Map(wanted.flatMap((paths, index) => paths.map((path) => [path, index])));
  const known = new Set(differences.map(({ path }) => path));
  const apart = now.flatMap(([first = '', ...others]) => {
    const group = groupOf.get(first);
    return others.filter((path) => !known.has(path) && (group === undefined || groupOf.get(path) !== group));
  });
  if (apart.length === 0) return [];
  const pace = new Pace(undefined);
  const found: Difference[] = [];
  using view = ViewFolder.open(after);
  for (const path of apart) {
    await pace.step();
    const stats = await withEntry(view, path, (entry) => entry?.stats);
    if (stats?.isFile()) found.push({ path, change: 'changed', after: sideOf(stats) });
  }
  return found;
}

function sideOf({ mode, size, mtimeMs }: Stats): Difference['after'] {
  return { kind: 'file', mode: mode & 0o7777, sizeBytes: size, modifiedMs: Math.floor(mtimeMs) };
}

/** Makes the names of each group one file, in a directory that holds that file by each of them. */
export async function joinNames(target: string, links: Links): Promise<void> {
  if (links.length === 0) return;
  const pace = new Pace(undefined);
  using root = ViewFolder.open({ layer: target });
  for (const [first = '', ...others] of links)
    for (const path of others) {
      await pace.step();
      await withEntry(root, first, (one) => withEntry(root, path, (other) => joinTwo(one, other)));
    }
}

/** By a rename, so that the name is there at every moment. */
function joinTwo(one: Found | undefined, other: Found | undefined): void {
  if (!one?.stats.isFile() || !other?.stats.isFile()) return;
  if (one.stats.ino === other.stats.ino && one.stats.dev === other.stats.dev) return;
  const staged = other.folder.at(`${stagingPrefix}${process.pid}-${randomBytes(6).toString('hex')}`);
  linkSync(one.folder.at(one.name), staged);
  try {
    renameSync(staged, other.folder.at(other.name));
  } finally {
    // An overlay numbers the names of one file differently, and renaming one name of a file to another one does nothing.
    rmSync(staged, { force: true });
  }
}
