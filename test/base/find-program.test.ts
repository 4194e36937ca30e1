import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findHostProgram, hostProgram } from '../../src/base/find-program.js';

let place: string;

beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), 'workcell-programs-')));
  for (const folder of ['bin', 'project/bin', 'project/node_modules/.bin', 'above/node_modules/.bin']) {
    mkdirSync(join(place, folder), { recursive: true });
    for (const name of ['mkfifo', 'rare-tool'])
      writeFileSync(join(place, folder, name), '#!/bin/sh\n', { mode: 0o755 });
  }
});

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

test('a program that is nowhere has a path all the same, so that no name is searched for', () => {
  expect(hostProgram('no-such-program')).toBe('/usr/bin/no-such-program');
});
