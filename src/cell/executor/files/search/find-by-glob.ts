import { Pace, walkMs } from '../../../../base/pace.js';
import type { Launcher } from '../../../launchers/launcher.js';
import { explained } from '../file-errors.js';
import type { Tree } from '../file-tree.js';
import { compareNames } from '../paths.js';
import { candidates, type SearchOptions } from './search-candidates.js';

export interface Globbed {
  readonly paths: string[];
  readonly truncated: boolean;
  readonly program?: 'rg';
}

/** Finds files by pattern. Stops at the limit, in the order in which a walk meets them. */
export function glob(
  tree: Tree,
  options: SearchOptions & { limit: number; launcher?: Launcher | undefined },
): Promise<Globbed> {
  return explained('search', options.path, async () => {
    const pace = new Pace(options.signal, walkMs);
    const paths: string[] = [];
    let truncated = false;
    let program: 'rg' | undefined;
    const onPartial = () => {
      truncated = true;
    };
    const onRipgrep = () => {
      program = 'rg';
    };
    for await (const candidate of candidates(tree, { ...options, onPartial, onRipgrep })) {
      await pace.step();
      const isFull = pace.isOver || (candidate !== undefined && paths.length >= options.limit);
      truncated ||= isFull;
      if (isFull) break;
      if (candidate !== undefined) paths.push(candidate.path);
    }
    return { paths: paths.sort(compareNames), truncated, ...(program && { program }) };
  });
}
