import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { discardTree, removeTree } from '../../src/base/remove-tree.js';

let place: string;
let path: string;

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'workcell-remove-'));
  path = join(place, 'tree');
});

afterEach(() => rmSync(place, { recursive: true, force: true }));

describe.each([
  ['at once', async (tree: string) => removeTree(tree)],
  ['in the background', discardTree],
] as const)('%s', (_name, remove) => {
  test('a tree nested deeper than descriptors and paths reach is removed', async () => {
    mkdirSync(path);
    const nest = 'import os\nfor _ in range(2100):\n  os.mkdir("d")\n  os.chdir("d")\nopen("f", "w")\n';
    execFileSync('python3', ['-c', nest], { cwd: path });
    await remove(path);
    expect(readdirSync(place)).toEqual([]);
  });

  test('permissions that keep everybody out, odd names, links and pipes do not hold it up', async () => {
    mkdirSync(join(path, 'closed', 'inner'), { recursive: true });
    writeFileSync(Buffer.concat([Buffer.from(`${path}/`), Buffer.from([0xff, 0x0a, 0xfe])]), '');
    symlinkSync('/', join(path, 'root'));
    symlinkSync('nowhere', join(path, 'dangling'));
    execFileSync('mkfifo', [join(path, 'pipe')]);
    chmodSync(join(path, 'closed'), 0);
    await remove(path);
    expect(readdirSync(place)).toEqual([]);
    expect(existsSync('/etc')).toBe(true);
  });

  test('thousands of files in one directory are removed', async () => {
    mkdirSync(path);
    for (let index = 0; index < 1000; index++) writeFileSync(join(path, String(index)), '');
    await remove(path);
    expect(existsSync(path)).toBe(false);
  });

  test('a link is removed and what it leads to stays', async () => {
    mkdirSync(join(place, 'other'));
    writeFileSync(join(place, 'other', 'file'), '');
    symlinkSync(join(place, 'other'), path);
    await remove(path);
    expect(readdirSync(place)).toEqual(['other']);
    expect(readdirSync(join(place, 'other'))).toEqual(['file']);
  });

  test('what is not there is no error', async () => {
    await remove(path);
    await remove(join(path, 'below'));
  });
});

test('what belongs to another user is left alone when only own things are to go', async () => {
  mkdirSync(join(path, 'inner'), { recursive: true });
  execFileSync('chown', ['65534', path]);
  await discardTree(path, { onlyOwn: true });
  removeTree(path, { onlyOwn: true });
  expect(readdirSync(path)).toEqual(['inner']);
  execFileSync('chown', ['0', path]);
  execFileSync('chown', ['65534', join(path, 'inner')]);
  removeTree(path, { onlyOwn: true });
  expect(existsSync(path)).toBe(false);
});
