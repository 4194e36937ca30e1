/** Files below a directory, by pattern. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

const neverEntered = new Set(['.git', 'node_modules']);

/** `*` and `?` stay within a name, `**` crosses directories, `{a,b}` chooses, `[abc]` is a set. */
export function globToRegExp(pattern: string): RegExp {
  let source = '';
  let depth = 0;
  for (let index = 0; index < pattern.length; index++) {
    const rest = pattern.slice(index);
    const set = /^\[(!?)([^\]]+)\]/.exec(rest);
    const character = pattern[index] as string;
    if (rest.startsWith('**/')) {
      source += '(?:[^/]+/)*';
      index += 2;
    } else if (rest.startsWith('**')) {
      source += '.*';
      index += 1;
    } else if (set !== null) {
      source += `[${set[1] === '!' ? '^' : ''}${set[2]?.replace(/[\\^]/g, '\\$&')}]`;
      index += set[0].length - 1;
    } else if (character === '*') source += '[^/]*';
    else if (character === '?') source += '[^/]';
    else if (character === '{') {
      source += '(?:';
      depth++;
    } else if (character === '}' && depth > 0) {
      source += ')';
      depth--;
    } else if (character === ',' && depth > 0) source += '|';
    else source += character.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  }
  return new RegExp(`^${source}${')'.repeat(depth)}$`);
}

/** Relative paths of regular files, in order. Links are not followed. */
export async function* filesBelow(root: string, below = ''): AsyncGenerator<string> {
  const entries = await readdir(join(root, below), { withFileTypes: true }).catch(() => []);
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isFile()) yield path;
    else if (entry.isDirectory() && !neverEntered.has(entry.name)) yield* filesBelow(root, path);
  }
}
