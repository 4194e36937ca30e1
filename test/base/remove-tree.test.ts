import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
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
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { discardTree, removeTree } from '../../src/base/remove-tree.js';
import { builtFile } from '../built-file.js';

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

test.runIf(process.getuid?.() === 0)(
  "another user's directory, which may not be read, goes when it is empty, and does not keep the rest",
  () => {
    const nobody = 65_534;
    for (const tree of ['removeTree', 'discardTree']) {
      const own = [join(place, tree), join(place, tree, 'other'), join(place, tree, 'other', 'file')];
      mkdirSync(own[1] as string, { recursive: true });
      writeFileSync(own[2] as string, '');
      for (const name of [place, ...own]) chownSync(name, nobody, nobody);
      mkdirSync(join(place, tree, 'a-closed'), { mode: 0o700 });
      mkdirSync(join(place, tree, 'other', 'a-closed'), { mode: 0o700 });
    }
    const source = `import(${JSON.stringify(builtFile('base/remove-tree.js'))}).then(async (module) => {
      module.removeTree(${JSON.stringify(join(place, 'removeTree'))});
      await module.discardTree(${JSON.stringify(join(place, 'discardTree'))});
    })`;
    execFileSync(process.execPath, ['-e', source], { uid: nobody, gid: nobody, cwd: '/' });
    expect(readdirSync(place)).toEqual([]);
  },
);

test('what is mounted in it is not entered, also when it is of the same device', () => {
  mkdirSync(join(path, 'mounted'), { recursive: true });
  mkdirSync(join(place, 'other', 'inner'), { recursive: true });
  writeFileSync(join(place, 'other', 'file'), '');
  const module = fileURLToPath(new URL('../../src/base/remove-tree.ts', import.meta.url));
  const remove = `import(${JSON.stringify(module)}).then(({ removeTree }) => removeTree(${JSON.stringify(path)}))`;
  const node = [process.execPath, '--import', import.meta.resolve('tsx'), '-e', remove];
  const source = 'mount --bind "$1" "$2" && shift 2 && exec "$@"';
  const mounted = [join(place, 'other'), join(path, 'mounted')];
  // In a mount namespace of its own, which a plain user has in a user namespace.
  execFileSync('unshare', [
    '--user',
    '--map-root-user',
    '--mount',
    'sh',
    '-c',
    source,
    'sh',
    ...mounted,
    ...node,
  ]);
  expect(readdirSync(join(place, 'other'))).toEqual(['file', 'inner']);
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
