/** The changelog is made of the changes that were written with each change. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { release } from '../../scripts/changelog.js';
import { checkout, filesBelow } from '../house/source.js';

const folder = mkdtempSync(join(tmpdir(), 'workcell-changelog-'));
mkdirSync(join(folder, '.changeset'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function change(name: string, level: string, text: string): void {
  writeFileSync(join(folder, '.changeset', name), `---\n"workcell": ${level}\n---\n\n${text}\n`);
}

const read = (name: string) => readFileSync(join(folder, name), 'utf8');

test('each release stands before the one before, with its changes by their weight', () => {
  writeFileSync(join(folder, 'package.json'), '{ "version": "0.1.0" }\n');
  writeFileSync(join(folder, 'CHANGELOG.md'), '# Changelog\n\nNewest first.\n\nThere is no release yet.\n');
  change('b.md', 'patch', 'Mended.');
  change('a.md', 'minor', 'New,\nand long.');
  expect(release(folder, '2026-01-31')).toBe('0.2.0');
  expect(read('package.json')).toBe('{ "version": "0.2.0" }\n');
  expect(readdirSync(join(folder, '.changeset'))).toEqual([]);
  const first =
    '## 0.2.0 (2026-01-31)\n\n### What is new\n\n- New,\n  and long.\n\n### What works better\n\n- Mended.\n';
  expect(read('CHANGELOG.md')).toBe(`# Changelog\n\nNewest first.\n\n${first}`);
  change('c.md', 'patch', 'Again.');
  expect(release(folder, '2026-02-01')).toBe('0.2.1');
  const second = '## 0.2.1 (2026-02-01)\n\n### What works better\n\n- Again.\n';
  expect(read('CHANGELOG.md')).toBe(`# Changelog\n\nNewest first.\n\n${second}\n${first}`);
});

test('the changes of this checkout can be released, and one of another form is refused', () => {
  cpSync(join(checkout, '.changeset'), join(folder, '.changeset'), { recursive: true });
  const written = filesBelow('.changeset', '.md').length;
  change('e.md', 'patch', 'One at least, also right after a release.');
  release(folder, '2026-03-01');
  const [newest = ''] = read('CHANGELOG.md').split('\n## 0.2.1');
  expect(newest.match(/^- /gm)?.length).toBeGreaterThanOrEqual(written);
  change('d.md', 'huge', 'What?');
  expect(() => release(folder, '2026-03-02')).toThrow(/d\.md has to begin with the package/);
});
