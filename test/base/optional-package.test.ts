import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isInstalled, optionalPackages, requirePackages } from '../../src/base/optional-package.js';
import { checkout, readText } from '../house/source.js';

test('packages that are there are not asked for', () => {
  expect(() => requirePackages('Shipping tools', ['esbuild'])).not.toThrow();
  expect(isInstalled('esbuild')).toBe(true);
});

test('one that is not there is named, with the command that installs it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'optional-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(checkout, 'src'), join(folder, 'src'), { recursive: true });
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(join(checkout, 'node_modules/zod'), join(folder, 'node_modules/zod'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const program = `
    import { requirePackages } from './src/base/optional-package.ts';
    try { requirePackages('A browser', ['playwright-core', 'pg']); } catch (error) {
      console.log(error.code, error.message);
    }
    const { shipPlugins } = await import('./src/backends/shipped-plugins.ts');
    const plugin = { plugin: { name: 'words' }, source: 'file:///words.mjs' };
    await shipPlugins([plugin], '/plugins').catch((error) => console.log(error.code, error.message));
    const { probeVendor } = await import('./src/backends/vendor/probe-vendor.ts');
    const { available, summary, advice } = await probeVendor({
      vendor: 'Modal', cells: 'sandboxes', client: 'modal', version: '0', key: () => {},
    });
    console.log(available, summary, ...advice);`;
  const loader = join(checkout, 'node_modules/tsx/dist/loader.mjs');
  const args = ['--import', loader, '--input-type', 'module', '--eval', program];
  expect(execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' }).split('\n')).toEqual([
    'package-missing A browser takes the packages "playwright-core" and "pg". Install with: npm install playwright-core pg',
    'package-missing Bringing the plugin "words" into a container takes the package "esbuild". Install with: npm install esbuild',
    'false The client of Modal, the package "modal", is not installed. Install it with: npm install modal@0',
    '',
  ]);
});

test('every optional package is an optional peer', () => {
  const { peerDependencies, peerDependenciesMeta } = JSON.parse(readText('package.json'));
  for (const name of Object.keys(optionalPackages)) {
    expect(peerDependencies).toHaveProperty([name]);
    expect(peerDependenciesMeta[name]).toEqual({ optional: true });
  }
});
