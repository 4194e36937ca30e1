/** The pages: what they name exists, where they link is there, and their programs compile. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { errorCodes } from '../../src/protocol/index.js';
import { checkout, markdownPages, readText } from './source.js';

const pages = markdownPages();

/** Folders whose paths in the text are paths of this checkout. */
const folders = ['src', 'test', 'bench', 'docs', 'examples', 'scripts', 'console', '.ci', '.changeset'];

test('every path named in a page exists', () => {
  const missing = pages.flatMap((page) =>
    pathsNamedIn(readText(page))
      .filter((path) => !existsSync(join(checkout, path)))
      .map((path) => `${page} names ${path}`),
  );
  expect(missing).toEqual([]);
});

test('every relative link leads somewhere', () => {
  const broken = pages.flatMap((page) =>
    linksOf(readText(page))
      .filter(({ path, anchor }) => !leadsSomewhere(page, path, anchor))
      .map(({ path, anchor }) => `${page} links to ${path}${anchor === undefined ? '' : `#${anchor}`}`),
  );
  expect(broken).toEqual([]);
});

test('docs/README.md lists every page', () => {
  const listed = linksOf(readText('docs/README.md')).map(({ path }) => `docs/${path}`);
  const rest = pages.filter((page) => /^docs\/(start|guides|reference)\//.test(page));
  expect(rest.filter((page) => !listed.includes(page))).toEqual([]);
});

test('a page that shows an example shows it as it is', () => {
  const shown = pages.flatMap((page) =>
    [...readText(page).matchAll(/`(examples\/[^`]+)`[^\n]*:\n\n```\w+\n([\s\S]*?)^```$/gm)].map((match) => ({
      example: match[1] ?? '',
      text: match[2],
    })),
  );
  expect(shown.length).toBeGreaterThan(1);
  for (const { example, text } of shown) expect(text, example).toBe(readText(example));
});

test('every link of llms.txt leads to a file of the package', () => {
  const links = linksOf(readText('llms.txt'));
  expect(links.length).toBeGreaterThan(50);
  expect(
    links.filter(({ path }) => !/^(docs|skills)\//.test(path) || !existsSync(join(checkout, path))),
  ).toEqual([]);
});

test('troubleshooting says of every error what helps, once', () => {
  const rows = [...readText('docs/reference/troubleshooting.md').matchAll(/^\| (`[^|]*`) \|/gm)];
  const told = rows.flatMap(([, codes = '']) => [...codes.matchAll(/`([^`]+)`/g)].map(([, code]) => code));
  expect(told.sort()).toEqual([...errorCodes].sort());
});

test('every decision has a number of its own', () => {
  const numbers = pages
    .filter((page) => page.startsWith('docs/decisions/'))
    .map((page) => page.slice('docs/decisions/'.length).split('-')[0]);
  expect(numbers).toEqual([...new Set(numbers)]);
});

test('every npm script and command named in a page exists', () => {
  const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> };
  const unknown = pages.flatMap((page) =>
    [...readText(page).matchAll(/npm run (?:-s )?([a-z][\w:-]*)/g)]
      .map((match) => match[1] ?? '')
      .filter((name) => !(name in scripts))
      .map((name) => `${page} names npm run ${name}`),
  );
  expect(unknown).toEqual([]);
});

/** The compiler shares two busy cores with everything else that runs. */
const compileMs = 300_000;

test(
  'every ts program in a page compiles',
  () => {
    const snippets = pages.flatMap((page) =>
      [...readText(page).matchAll(/^```ts(?: run)?\n([\s\S]*?)^```$/gm)].map((match, index) => ({
        name: `${page.replaceAll(/[/.]/g, '-')}-${index + 1}.ts`,
        source: match[1] ?? '',
      })),
    );
    const cache = join(checkout, '.cache');
    mkdirSync(cache, { recursive: true });
    const folder = mkdtempSync(join(cache, 'snippets-'));
    try {
      for (const { name, source } of snippets) writeFileSync(join(folder, name), `${source}\nexport {};\n`);
      writeFileSync(
        join(folder, 'tsconfig.json'),
        JSON.stringify({ extends: '../../tsconfig.json', include: ['*.ts'], files: [] }),
      );
      if (snippets.length > 0) expect(compile(folder)).toBe('');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  compileMs,
);

/** Paths in code marks, such as `src/protocol/errors.ts`, without placeholders (`<type>`, `*`, `NNNN`). */
function pathsNamedIn(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '');
  const marked = [...prose.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? '');
  return marked
    .flatMap((code) => code.split(/\s+/))
    .map((word) => word.replace(/^\.\//, '').replace(/[,;:]$/, ''))
    .filter((word) => folders.some((folder) => word === folder || word.startsWith(`${folder}/`)))
    .filter((word) => word.includes('/') && !/[<>*{}$…]|NNNN/.test(word));
}

function linksOf(text: string): { path: string; anchor: string | undefined }[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => match[1] ?? '')
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', anchor] = target.split('#');
      return { path, anchor };
    });
}

function leadsSomewhere(page: string, path: string, anchor: string | undefined): boolean {
  const target = path === '' ? page : normalize(join(dirname(page), path));
  if (!existsSync(join(checkout, target))) return false;
  if (anchor === undefined) return true;
  const headings = [...readText(target).matchAll(/^#+ (.*)$/gm)].map((match) => match[1] ?? '');
  return headings.some((heading) => slug(heading) === anchor);
}

function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

function compile(project: string): string {
  try {
    execFileSync('node_modules/.bin/tsc', ['-p', project, '--noEmit'], { cwd: checkout, encoding: 'utf8' });
    return '';
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}
