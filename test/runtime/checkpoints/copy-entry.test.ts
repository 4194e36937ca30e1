import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { copyEntry } from '../../../src/runtime/checkpoints/copy-entry.js';
import { Folder } from '../../../src/runtime/checkpoints/layer-folder.js';

const root = mkdtempSync(join(tmpdir(), 'copy-entry-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

it.each([1000, 8_000_000])(
  'copies %s bytes and never touches what a link in place of the copy leads to',
  async (size) => {
    const [from, to, victim] = ['from', 'to', 'victim'].map((name) => join(root, `${name}-${size}`)) as [
      string,
      string,
      string,
    ];
    for (const path of [from, to]) mkdirSync(path);
    writeFileSync(victim, 'private');
    chmodSync(victim, 0o600);
    const before = statSync(victim);
    const file = join(from, 'file');
    writeFileSync(file, Buffer.alloc(size, 7));
    chmodSync(file, 0o4777);
    utimesSync(file, 1, 2);
    using source = Folder.open(from);
    using target = Folder.open(to);

    await copyEntry(source, 'file', lstatSync(file), target, 'plain');
    expect(readFileSync(join(to, 'plain')).equals(readFileSync(file))).toBe(true);
    expect(statSync(join(to, 'plain'))).toMatchObject({ mode: 0o104777, mtimeMs: 2000 });

    const copy = join(to, 'copy');
    symlinkSync(victim, join(to, 'link'));
    const copying = copyEntry(source, 'file', lstatSync(file), target, 'copy');
    while (!existsSync(copy)) await new Promise(setImmediate);
    renameSync(join(to, 'link'), copy);
    await copying;
    expect(readFileSync(victim, 'utf8')).toBe('private');
    expect(statSync(victim)).toMatchObject({ mode: before.mode, mtimeMs: before.mtimeMs });
  },
);
