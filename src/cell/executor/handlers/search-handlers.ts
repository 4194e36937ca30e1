import { glob as findFiles } from '../files/search/find-by-glob.js';
import { grep as searchContents } from '../files/search/grep.js';
import type { Handler } from '../handler-context.js';

export const glob: Handler<'glob'> = async (
  { pattern, path, hidden, ignored, limit },
  { tree },
  { signal },
) => {
  return {
    observation: 'glob',
    ...(await findFiles(tree, { glob: pattern, path, hidden, ignored, limit, signal })),
  };
};

export const grep: Handler<'grep'> = async (action, { tree }, { signal }) => {
  return { observation: 'grep', ...(await searchContents(tree, { ...action, signal })) };
};
