/** Names in a directory, for `/list_files`. */
import { posix } from 'node:path';
import { type Executor, WorkcellError } from '../../../protocol/index.js';
import { perform } from '../perform-action.js';
import { kindOf } from './path-kind.js';

/** Directories first, with a slash. Empty for a directory that we cannot list. */
export async function listNames(executor: Executor, path: string): Promise<string[]> {
  const directories: string[] = [];
  const others: string[] = [];
  try {
    const { entries } = await perform(executor, { action: 'list', path, limit: 100_000 });
    for (const { name, type } of entries) {
      const kind = type === 'symlink' ? await kindOf(executor, posix.join(path, name)) : type;
      if (kind === 'directory') directories.push(`${name}/`);
      else if (kind !== 'missing') others.push(name);
    }
  } catch (error) {
    if (WorkcellError.isInstance(error)) return [];
    throw error;
  }
  return [...directories.sort(byLowerCase), ...others.sort(byLowerCase)];
}

function byLowerCase(left: string, right: string): number {
  const [a, b] = [left.toLowerCase(), right.toLowerCase()];
  return a < b ? -1 : a > b ? 1 : 0;
}
