import { type Executor, WorkcellError } from '../../../protocol/index.js';
import { perform } from '../perform-action.js';

export type PathKind = 'missing' | 'directory' | 'file';

/** What a path leads to, following links. Anything but a directory that exists counts as a file. */
export async function kindOf(executor: Executor, path: string): Promise<PathKind> {
  try {
    const { type } = await perform(executor, { action: 'stat', path });
    if (type !== 'symlink') return type === 'directory' ? 'directory' : 'file';
    await perform(executor, { action: 'list', path, limit: 1 });
    return 'directory';
  } catch (error) {
    if (hasCode(error, 'not-a-directory'))
      return (await leadsThroughFile(executor, path)) ? 'missing' : 'file';
    if (hasCode(error, 'not-found')) return 'missing';
    throw error;
  }
}

export function hasCode(error: unknown, ...codes: WorkcellError['code'][]): error is WorkcellError {
  return WorkcellError.isInstance(error) && codes.includes(error.code);
}

/** Distinguishes `file/below` from a link to a file: only the latter leads to something to inspect. */
async function leadsThroughFile(executor: Executor, path: string): Promise<boolean> {
  return perform(executor, { action: 'stat', path }).then(
    () => false,
    () => true,
  );
}
