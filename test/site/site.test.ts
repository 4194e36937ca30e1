/** The static site of the documentation, opened from files in a browser. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildSite } from '../../scripts/site/build-site.js';
import { renderMarkdown } from '../../scripts/site/markdown.js';

const folder = mkdtempSync(join(tmpdir(), 'workcell-site-'));
const problems: string[] = [];
let browser: Browser;
beforeAll(async () => {
  buildSite(folder);
  browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'],
  });
});
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

test('every link leads to a page that is there, and to a place in it', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.html'),
  );
  expect(files.length).toBeGreaterThan(80);
  const html = new Map(files.map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
  const broken = [...html].flatMap(([file, text]) =>
    [...text.matchAll(/(?:href|src)="(?![a-z]+:)([^"#]*)#?([^"]*)"/g)]
      .filter(([, path = '', anchor = '']) => {
        const target = path === '' ? file : join(dirname(file), path);
        if (!existsSync(join(folder, target))) return true;
        return anchor !== '' && !html.get(target)?.includes(` id="${anchor}"`);
      })
      .map(([link]) => `${file}: ${link}`),
  );
  expect(broken).toEqual([]);
});

test('the search leads from an error code to what helps', async () => {
  const page = await open('start/quick-start.html');
  await page.keyboard.press('/');
  await page.keyboard.type('session-busy');
  const result = page.locator('#results a', { hasText: 'Commands and sessions' });
  await result.click();
  await page.waitForURL(/reference\/troubleshooting\.html#commands-and-sessions$/);
  await page.fill('#search', 'zyzzyva');
  expect(await page.textContent('#results')).toBe('Nothing found.');
  await page.press('#search', 'Escape');
  expect(await page.textContent('#results')).toBe('');
});

test('colours follow the system until somebody chooses, and the choice stays', async () => {
  const page = await open('index.html', { colorScheme: 'dark' });
  const ground = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
  const dark = await ground();
  await page.click('#theme');
  const light = await ground();
  expect([dark, light]).toEqual(['rgb(15, 18, 22)', 'rgb(255, 255, 255)']);
  await page.reload();
  expect(await ground()).toBe(light);
});

test('on a small screen nothing is wider than it, and the list of pages is folded', async () => {
  const page = await open('index.html', { viewport: { width: 390, height: 800 } });
  for (const place of ['index', 'reference/api', 'reference/cli', 'guides/security', 'start/comparison']) {
    await page.goto(addressOf(`${place}.html`));
    expect(await page.evaluate('document.documentElement.scrollWidth'), place).toBe(390);
  }
  const link = page.locator('nav a', { hasText: 'Quick start' });
  expect(await link.isVisible()).toBe(false);
  await page.click('nav summary');
  await link.click();
  expect(await page.textContent('h1')).toBe('Quick start');
});

test('no page logged a problem', () => {
  expect(problems).toEqual([]);
});

test.each([
  ['a `<b>` & <b>', '<p>a <code>&lt;b&gt;</code> &amp; &lt;b&gt;</p>'],
  ['# A `b` C', '<h1 id="a-b-c">A <code>b</code> C</h1>'],
  [
    '- **a**\n  more\n\n  ```\n  x < 1\n  ```\n- b',
    '<ul><li><strong>a</strong> more\n<pre tabindex="0"><code>x &lt; 1</code></pre></li><li>b</li></ul>',
  ],
  ['1. a\n2. b', '<ol><li>a</li><li>b</li></ol>'],
  ['[a](b.md) and *c* but 2 * 3 * 4', '<p><a href="to b.md">a</a> and <em>c</em> but 2 * 3 * 4</p>'],
  [
    '| a |\n|---|\n| `x \\| y` |',
    '<div class="wide" tabindex="0"><table><thead><tr><th>a</th></tr></thead><tbody><tr><td><code>x | y</code></td></tr></tbody></table></div>',
  ],
])('%j is rendered as it reads', (source, html) => {
  expect(renderMarkdown(source, (target) => `to ${target}`)).toBe(html);
});

function addressOf(place: string): string {
  return pathToFileURL(join(folder, place)).href;
}

async function open(place: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await browser.newPage(options);
  page.on('console', (message) => problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(String(error)));
  await page.goto(addressOf(place));
  return page;
}
