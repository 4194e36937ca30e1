/** Puts programs in other languages into a bundle, which has no files beside it to read them from. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Plugin } from 'esbuild';

/** A plugin for esbuild. `folders`: where to look for programs, with all that is below. */
export function inlinePrograms(folders: readonly string[]): Plugin {
  return {
    name: 'programs in other languages',
    setup({ onLoad }) {
      onLoad({ filter: /[\\/]base[\\/]program-text\.[jt]s$/ }, () => ({
        loader: 'js',
        contents: `const texts = ${JSON.stringify(textsIn(folders))};
          export const programText = (name) => texts[name];`,
      }));
    },
  };
}

function textsIn(folders: readonly string[]): Record<string, string> {
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:py|pl|sh|bash|fish|mjs|cjs)$/.test(name))
      .sort()
      .map((name) => join(folder, name)),
  );
  return Object.fromEntries(files.map((file) => [basename(file), readFileSync(file, 'utf8')]));
}
