/** Paths by their names, so that code enters each directory once. */
export interface PathTree extends ReadonlyMap<string, PathTree> {}

interface Growing extends Map<string, Growing> {}

export function treeOf(paths: Iterable<string>): PathTree {
  const root: Growing = new Map();
  for (const path of paths) {
    let at = root;
    for (const name of path.split('/')) {
      const next: Growing = at.get(name) ?? new Map();
      at.set(name, next);
      at = next;
    }
  }
  return root;
}
