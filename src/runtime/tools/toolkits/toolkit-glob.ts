/** Files below a directory, by pattern. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expandBraces } from '../../../cell/executor/files/search/expand-braces.js';
import { compilePath } from '../../../cell/executor/files/search/glob-pattern.js';

const neverEntered = new Set(['.git', 'node_modules']);

/** Tells whether a path, from its first directory on, fits the pattern. */
export function pathMatcher(pattern: string): (path: string) => boolean {
  const matchers = expandBraces(pattern).map((alternative) => compilePath(alternative, { anchored: true }));
  return (path) => matchers.some((matches) => matches(path));
}

/** Relative paths of regular files, in order. Follows no links. */
export async function* filesBelow(root: string, below = ''): AsyncGenerator<string> {
  const entries = await readdir(join(root, below), { withFileTypes: true }).catch(() => []);
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isFile()) yield path;
    else if (entry.isDirectory() && !neverEntered.has(entry.name)) yield* filesBelow(root, path);
  }
}
