import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { resolveImport } from '../../src/base/resolve-import.js';

test.each<[what: string, manifest: object, name: string, found: string]>([
  ['the import condition wins', { exports: { require: './a.cjs', import: './a.js' } }, 'kit', 'a.js'],
  ['a string stands for the whole package', { exports: './one.js' }, 'kit', 'one.js'],
  ['conditions may be nested', { exports: { '.': { node: { import: './n.js' } } } }, 'kit', 'n.js'],
  ['a path has its own entry', { exports: { '.': './a.js', './b': './lib/b.js' } }, 'kit/b', 'lib/b.js'],
  ['a star stands for the rest', { exports: { './*': './lib/*.js' } }, 'kit/deep/c', 'lib/deep/c.js'],
  ['the first usable of a list is taken', { exports: [{ browser: './w.js' }, './a.js'] }, 'kit', 'a.js'],
  ['without exports main counts', { main: 'lib/start.js' }, 'kit', 'lib/start.js'],
  ['without both it is index.js', {}, 'kit', 'index.js'],
  ['without exports a path is a file', {}, 'kit/lib/start.js', 'lib/start.js'],
])('%s', (_what, manifest, name, found) => {
  const { folder, home } = install(manifest, ['index.js', 'lib/start.js']);
  expect(resolveImport(name, folder)).toBe(pathToFileURL(join(home, found)).href);
});

test('a package is found from a folder below the one that has it', () => {
  const { folder, home } = install({ exports: './a.js' }, []);
  expect(resolveImport('kit', join(folder, 'deep/er'))).toBe(pathToFileURL(join(home, 'a.js')).href);
});

test('a target outside the package is not taken', () => {
  const { folder } = install({ exports: '../outside.js' }, []);
  expect(() => resolveImport('kit', folder)).toThrow('does not export');
});

test('what is not installed is named', () => {
  const { folder } = install({}, []);
  expect(() => resolveImport('@scope/none', folder)).toThrow(`"@scope/none" from ${folder}`);
});

test('a module of Node is itself', () => {
  expect(resolveImport('fs', '/')).toBe('node:fs');
});

/** A folder with one package in it. */
function install(manifest: object, files: readonly string[]): { folder: string; home: string } {
  const folder = mkdtempSync(join(tmpdir(), 'resolve-import-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const home = join(folder, 'node_modules/kit');
  for (const file of ['package.json', ...files]) {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    writeFileSync(join(home, file), file === 'package.json' ? JSON.stringify(manifest) : '');
  }
  return { folder, home };
}
