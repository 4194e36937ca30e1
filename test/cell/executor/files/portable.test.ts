import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PathSpace } from '../../../../src/cell/executor/files/paths.js';
import { openPortableRoot } from '../../../../src/cell/executor/files/portable-directory.js';
import { readEntries } from '../../../../src/cell/executor/files/read-entries.js';
import { walk } from '../../../../src/cell/executor/files/resolve-beneath.js';
import { makeScratch } from './scratch.js';

it('keeps to the root also where directories cannot be reached through descriptors', () => {
  const { root, outside } = makeScratch();
  mkdirSync(join(root, 'a'));
  writeFileSync(join(root, 'a/file'), 'inside');
  symlinkSync('a', join(root, 'link'));
  symlinkSync(outside, join(root, 'out'));
  const base = openPortableRoot(root);
  const space = new PathSpace({ root, mount: root, workspace: root });
  const place = walk(base, space, 'link/file', { follow: true });
  expect(place.names).toEqual(['a', 'file']);
  expect(place.directory.openFile('file', 0).stats.size).toBe(6);
  expect(() => walk(base, space, 'out/secret.txt', { follow: true })).toThrow(/leads out/);
  expect(() => base.open('link')).toThrow('ENOTDIR');
  expect(() => base.openFile('out', 0)).toThrow('SWAPPED');
  const read = readEntries(base.open('a')).next();
  expect(read).toMatchObject({ done: true, value: { entries: [{ text: 'file' }], isComplete: true } });
});
