/** Finds files by name and by content. */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type FunctionTool, tool } from '../function-tool.js';
import { filesBelow, pathMatcher } from './toolkit-glob.js';
import { checkOptions } from './toolkit-options.js';
import { createPlace, type PlaceOptions } from './toolkit-place.js';

const mostResults = 1000;
const largestFile = 4 * 1024 * 1024;

/** Makes tools that find files and text. */
export function searchToolkit(options: PlaceOptions = {}): FunctionTool[] {
  checkOptions('searchToolkit', options, ['root']);
  const place = createPlace(options);
  const path = z.string().default('.').describe('Directory to look below.');
  const limit = z.int().min(1).max(mostResults).default(200);
  return [
    tool({
      name: 'glob',
      description: 'Finds files by a pattern such as src/**/*.ts.',
      parameters: z.object({ pattern: z.string().min(1), path, limit }),
      readOnly: true,
      async execute({ pattern, path: below, limit: most }, { signal }) {
        const matches = pathMatcher(pattern);
        const found: string[] = [];
        for await (const file of filesBelow(place.resolve(below))) {
          signal.throwIfAborted();
          if (!matches(file)) continue;
          if (found.length === most) return { files: found, truncated: true };
          found.push(file);
        }
        return { files: found, truncated: false };
      },
    }) as FunctionTool,
    tool({
      name: 'grep',
      description: 'Finds lines that contain a text, or match a regular expression.',
      parameters: z.object({
        query: z.string().min(1),
        regex: z.boolean().default(false),
        ignoreCase: z.boolean().default(false),
        glob: z.string().default('**').describe('Only files whose path fits.'),
        path,
        limit,
      }),
      readOnly: true,
      async execute({ query, regex, ignoreCase, glob, path: below, limit: most }, { signal }) {
        const source = regex ? query : query.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
        const matches = new RegExp(source, ignoreCase ? 'i' : '');
        const wanted = pathMatcher(glob);
        const root = place.resolve(below);
        const found: { file: string; line: number; text: string }[] = [];
        for await (const file of filesBelow(root)) {
          signal.throwIfAborted();
          if (!wanted(file)) continue;
          for (const [index, text] of (await linesOf(join(root, file))).entries()) {
            if (!matches.test(text)) continue;
            if (found.length === most) return { matches: found, truncated: true };
            found.push({ file, line: index + 1, text: text.slice(0, 500) });
          }
        }
        return { matches: found, truncated: false };
      },
    }) as FunctionTool,
  ];
}

/** None for a file that is large or not text. */
async function linesOf(path: string): Promise<string[]> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return [];
  try {
    if ((await file.stat()).size > largestFile) return [];
    const content = await file.readFile();
    if (content.subarray(0, 8192).includes(0)) return [];
    return content.toString('utf8').split('\n');
  } finally {
    await file.close();
  }
}
