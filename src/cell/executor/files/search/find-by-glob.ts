import { explained } from '../file-errors.js';
import type { Tree } from '../file-tree.js';
import { Pace, walkMs } from '../pace.js';
import { compareNames } from '../paths.js';
import { candidates, type SearchOptions } from './search-candidates.js';

/** Finds files by pattern. Stops at the limit, in the order in which directories are gone through. */
export function glob(
  tree: Tree,
  options: SearchOptions & { limit: number; signal?: AbortSignal | undefined },
): Promise<{ paths: string[]; truncated: boolean }> {
  return explained('search', options.path, async () => {
    const pace = new Pace(options.signal, walkMs);
    const paths: string[] = [];
    let truncated = false;
    const onPartial = () => {
      truncated = true;
    };
    for (const candidate of candidates(tree, { ...options, onPartial })) {
      await pace.step();
      const isFull = pace.isOver || (candidate !== undefined && paths.length >= options.limit);
      truncated ||= isFull;
      if (isFull) break;
      if (candidate !== undefined) paths.push(candidate.path);
    }
    return { paths: paths.sort(compareNames), truncated };
  });
}
