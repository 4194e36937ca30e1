/** What an installation of the package brings along. The budget is a promise to everybody who installs it. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readText } from './source.js';

const mostDependencies = 14;
const mostMegabytes = 80;

const { dependencies } = JSON.parse(readText('package.json')) as { dependencies: Record<string, string> };
const { packages } = JSON.parse(readText('package-lock.json')) as {
  packages: Record<string, { dev?: boolean; peer?: boolean; hasInstallScript?: boolean; license?: string }>;
};

test(`at most ${mostDependencies} packages are depended on`, () => {
  expect(Object.keys(dependencies).length).toBeLessThanOrEqual(mostDependencies);
});

test(`what is installed takes at most ${mostMegabytes} MB`, () => {
  const installed = Object.entries(packages).filter(([path, { dev, peer }]) => path !== '' && !dev && !peer);
  // What is for another platform is in the lock file and not installed.
  const bytes = installed.filter(([path]) => existsSync(path)).map(([path]) => bytesIn(path));
  expect(bytes.length).toBeGreaterThan(100);
  expect(bytes.reduce((sum, more) => sum + more) / 1e6).toBeLessThanOrEqual(mostMegabytes);
});

/** Packages within packages count by themselves. */
function bytesIn(directory: string): number {
  return readdirSync(directory, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .map((entry) => {
      const path = join(directory, entry.name);
      return entry.isDirectory() ? bytesIn(path) : statSync(path).size;
    })
    .reduce((sum, more) => sum + more, 0);
}

/** They let you ship what is under them in a program of your own, for their text. */
const permissive = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT'];

test('what is installed has a licence that asks for no more than its text', () => {
  const others = Object.entries(packages)
    .filter(
      ([path, { dev, peer, license = '' }]) => path !== '' && !dev && !peer && !permissive.includes(license),
    )
    .map(([path, { license }]) => `${path}: ${license ?? 'none'}`);
  expect(others).toEqual([]);
});

/** Its script takes a built file out of the package, and compiles only on a machine that it has none for. */
const built = ['node_modules/@photostructure/sqlite'];

test('nothing that is installed runs a script of its own', () => {
  const scripted = Object.entries(packages)
    .filter(([, { dev, peer, hasInstallScript }]) => hasInstallScript && !dev && !peer)
    .map(([path]) => path);
  expect(scripted).toEqual(built);
});
