/** What an installation of the package brings along. The budget is a promise to everybody who installs it. */
import { expect, test } from 'vitest';
import { readText } from './source.js';

const mostDependencies = 15;

const { dependencies } = JSON.parse(readText('package.json')) as { dependencies: Record<string, string> };
const { packages } = JSON.parse(readText('package-lock.json')) as {
  packages: Record<string, { dev?: boolean; peer?: boolean; hasInstallScript?: boolean }>;
};

test(`at most ${mostDependencies} packages are depended on`, () => {
  expect(Object.keys(dependencies).length).toBeLessThanOrEqual(mostDependencies);
});

/** Its script takes a built file out of the package, and compiles only on a machine that it has none for. */
const built = ['node_modules/@photostructure/sqlite'];

test('nothing that is installed runs a script of its own', () => {
  const scripted = Object.entries(packages)
    .filter(([, { dev, peer, hasInstallScript }]) => hasInstallScript && !dev && !peer)
    .map(([path]) => path);
  expect(scripted).toEqual(built);
});
