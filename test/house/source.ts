/** Reads the checkout for the house tests. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const checkout = fileURLToPath(new URL('../..', import.meta.url));

export function readText(path: string): string {
  return readFileSync(join(checkout, path), 'utf8');
}

/** Files below a folder of the checkout whose name ends so, as paths from the checkout. */
export function filesBelow(folder: string, ending: string): string[] {
  const start = join(checkout, folder);
  if (!existsSync(start)) return [];
  return readdirSync(start, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(checkout, join(entry.parentPath, entry.name)))
    .sort();
}

/** Markdown pages of the repository: those at the top, docs, and all others that git does not ignore. */
export function markdownPages(): string[] {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], { cwd: checkout });
  return listed
    .toString()
    .split('\n')
    .filter((path) => path !== '' && existsSync(join(checkout, path)))
    .sort();
}

/** What a source file imports, static and dynamic, types included. */
export function importsOf(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  const statements = code.matchAll(
    /(?:^|[;{}\s])(?:import|export)\s(?:[^'"`;]*?\sfrom\s*)?['"]([^'"]+)['"]|\b(?:import|require)\(\s*['"]([^'"]+)['"]/g,
  );
  return [...statements].map((match) => match[1] ?? match[2] ?? '');
}
