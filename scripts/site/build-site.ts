/** The documentation as pages that need no server: every link is relative, and the search is a file of the site. */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { escapeHtml, plain, renderMarkdown, slug } from './markdown.js';

const checkout = fileURLToPath(new URL('../..', import.meta.url));
const index = 'docs/README.md';
const pictures = /\.(?:png|svg)$/;

interface SearchEntry {
  readonly page: string;
  readonly heading: string;
  readonly url: string;
  readonly text: string;
}

/** Returns the number of pages. */
export function buildSite(folder: string): number {
  const files = readdirSync(join(checkout, 'docs'), { recursive: true, encoding: 'utf8' });
  const docs = files.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`);
  const pages = new Map(
    [...docs, 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'README.md'].map((path) => [path, read(path)]),
  );
  // A link to a folder leads to a list of what is in it.
  for (const part of ['docs/decisions', 'docs/reference/backends'])
    pages.set(`${part}/README.md`, listOf(part, pages));
  const search: SearchEntry[] = [];
  for (const [path, source] of pages) {
    const place = placeOf(path);
    const link = (target: string) => linkFrom(path, target, pages);
    const html = renderMarkdown(source, link);
    mkdirSync(join(folder, dirname(place)), { recursive: true });
    writeFileSync(
      join(folder, place),
      layout({ path, title: titleOf(source), html, nav: navigation(path, pages) }),
    );
    search.push(...entriesOf(source, place));
  }
  const own = fileURLToPath(new URL('.', import.meta.url));
  for (const file of ['site.css', 'site.js']) cpSync(join(own, file), join(folder, file));
  for (const picture of files.filter((name) => pictures.test(name)))
    cpSync(join(checkout, 'docs', picture), join(folder, picture));
  writeFileSync(join(folder, 'search.js'), `window.searchIndex = ${JSON.stringify(search)};\n`);
  return pages.size;
}

function placeOf(path: string): string {
  if (path === index) return 'index.html';
  const place = path.startsWith('docs/') ? path.slice('docs/'.length) : `project/${path}`;
  return place.replace(/README\.md$/, 'index.html').replace(/\.md$/, '.html');
}

function linkFrom(path: string, target: string, pages: ReadonlyMap<string, string>): string {
  if (/^[a-z]+:/.test(target) || target.startsWith('#')) return target;
  const [file = '', anchor] = target.split('#');
  const named = normalize(join(dirname(path), file)).replace(/\/$/, '');
  if (pictures.test(named)) return relative(dirname(placeOf(path)), placeOf(named));
  const page = pages.has(named) ? named : `${named}/README.md`;
  if (!pages.has(page)) throw new Error(`${path} links to ${target}, which is no page of the site.`);
  const place = relative(dirname(placeOf(path)), placeOf(page));
  return anchor === undefined ? place : `${place}#${anchor}`;
}

function listOf(folder: string, pages: ReadonlyMap<string, string>): string {
  const inside = [...pages].filter(([path]) => dirname(path) === folder).sort();
  const lines = inside.map(([path, source]) => `- [${titleOf(source)}](${relative(folder, path)})`);
  return [`# ${folder.endsWith('decisions') ? 'Decisions' : 'Backends'}`, '', ...lines, ''].join('\n');
}

function titleOf(source: string): string {
  return plain(/^# (.*)$/m.exec(source)?.[1] ?? '');
}

/** One entry a section, so that a result leads to the place itself. */
function entriesOf(source: string, place: string): SearchEntry[] {
  const page = titleOf(source);
  return source
    .replace(/^```[\w ]*$|<!--.*-->/gm, '')
    .split(/^(?=#{1,3} )/m)
    .filter((section) => section.startsWith('#'))
    .map((section) => {
      const [first = '', ...rest] = section.split('\n');
      const heading = first.replace(/^#+ /, '');
      const url = first.startsWith('# ') ? place : `${place}#${slug(heading)}`;
      return {
        page,
        heading: plain(heading),
        url,
        text: plain(rest.join(' ')).replace(/[\s|]+|-{2,}/g, ' '),
      };
    });
}

/** The index of the docs, as a list beside each page. */
function navigation(path: string, pages: ReadonlyMap<string, string>): string {
  const lines = read(index).split('\n');
  const list = lines
    .flatMap((line) => {
      const [, section] = /^## (.*)$/.exec(line) ?? [];
      if (section !== undefined) return [`</ul><h2>${escapeHtml(section)}</h2><ul>`];
      if (!/^(?:- | {2}\[|\[)/.test(line)) return [];
      return [...line.matchAll(/\[([^\]]*)\]\(([^):]+)\)/g)].map(([, title = '', target = '']) => {
        const page = join('docs', target);
        const current = page === path ? ' aria-current="page"' : '';
        const to = linkFrom(path, relative(dirname(path), page), pages);
        return `<li><a href="${to}"${current}>${escapeHtml(plain(title))}</a></li>`;
      });
    })
    .join('\n');
  return `<ul>${list}</ul>`;
}

interface Page {
  readonly path: string;
  readonly title: string;
  readonly html: string;
  readonly nav: string;
}

function layout({ path, title, html, nav }: Page): string {
  const base = '../'.repeat(placeOf(path).split('/').length - 1);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Workcell</title>
<link rel="stylesheet" href="${base}site.css">
<script src="${base}search.js" defer></script>
<script src="${base}site.js" defer></script>
</head>
<body data-base="${base}">
<header>
<a class="home" href="${base}index.html">Workcell</a>
<search><input id="search" type="search" placeholder="Search (/)" aria-label="Search the documentation" autocomplete="off"><ul id="results" aria-live="polite"></ul></search>
<button id="theme" type="button" aria-label="Switch between light and dark">◐</button>
</header>
<div class="columns">
<nav aria-label="Pages"><details open><summary>All pages</summary>
${nav}
</details></nav>
<main>
${html}
</main>
</div>
</body>
</html>
`;
}

function read(path: string): string {
  return readFileSync(join(checkout, path), 'utf8');
}
