/** The parts of `docs/benchmarks.md` that measurements write; the words around them are written by hand. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const benchmarksPage = fileURLToPath(new URL('../docs/benchmarks.md', import.meta.url));

const end = '<!-- End of the figures -->';

export function replaceSection(page: string, name: string, text: string): string {
  const begin = `<!-- Figures \`${name}\`, written by measurement -->`;
  const from = page.indexOf(begin);
  const to = page.indexOf(end, from);
  if (from === -1 || to === -1) throw new Error(`The page has no place for the figures "${name}".`);
  return `${page.slice(0, from)}${begin}\n\n${text.trim()}\n\n${page.slice(to)}`;
}

export function writeSection(name: string, text: string): void {
  writeFileSync(benchmarksPage, replaceSection(readFileSync(benchmarksPage, 'utf8'), name, text));
}
