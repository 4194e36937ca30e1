import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { findHostProgram, hostPath, hostProgram } from '../../src/base/find-program.js';

let place: string;

beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), 'workcell-programs-')));
  for (const folder of ['bin', 'project/bin', 'project/node_modules/.bin', 'above/node_modules/.bin']) {
    mkdirSync(join(place, folder), { recursive: true });
    for (const name of ['mkfifo', 'rare-tool'])
      writeFileSync(join(place, folder, name), '#!/bin/sh\n', { mode: 0o755 });
  }
});

afterEach(() => vi.unstubAllEnvs());
afterEach(() => rmSync(place, { recursive: true, force: true }));

const find = (name: string, ...folders: string[]) =>
  findHostProgram(name, { path: folders.join(':'), cwd: join(place, 'project') });

test('a program of the system is taken from there, whatever the search path says', () => {
  expect(find('mkfifo', '.', '', join(place, 'bin'))).toMatch(/^\/(usr\/)?bin\/mkfifo$/);
});

test('another one is taken from an absolute directory of this user', () => {
  expect(find('rare-tool', 'bin', join(place, 'bin'))).toBe(join(place, 'bin/rare-tool'));
});

test('the project that the program is started in offers none', () => {
  const folders = ['.', '', 'bin', './bin', join(place, 'project'), join(place, 'project/bin')];
  const added = ['project', 'above'].map((name) => join(place, name, 'node_modules/.bin'));
  expect(find('rare-tool', ...folders, ...added)).toBeUndefined();
});

test('a directory that others can write to offers none', () => {
  chmodSync(join(place, 'bin'), 0o777);
  expect(find('rare-tool', join(place, 'bin'))).toBeUndefined();
});

test('the search path of a started program keeps its order, without what the project chooses', () => {
  symlinkSync(join(place, 'project'), join(place, 'link'));
  const own = ['/usr/bin', join(place, 'bin'), '/bin'];
  const chosen = join(place, 'project/bin');
  const others = ['.', '', 'bin', chosen, join(place, 'link/bin'), join(place, 'above/node_modules/.bin')];
  const options = { path: [...others, ...own, ...others].join(':'), cwd: join(place, 'project') };
  expect(hostPath(options)).toBe(own.join(':'));
  expect(hostPath({ ...options, chosen: [chosen] })).toBe([chosen, ...own, chosen].join(':'));
  expect(hostPath({ ...options, path: others.join(':') })).toBe('/usr/local/bin:/bin:/usr/bin');
});

test('the programs of a user count also while the user stands in the home directory', () => {
  const [home, own] = [join(place, 'project'), join(place, 'project/bin')];
  vi.stubEnv('HOME', home);
  expect(hostPath({ path: own, cwd: home })).toBe(own);
  expect(hostPath({ path: own, cwd: own })).not.toBe(own);
});

test('a program that is nowhere has a path all the same, so that no name is searched for', () => {
  expect(hostProgram('no-such-program')).toBe('/usr/bin/no-such-program');
});
