/** The caller's own programs come along where that is safe, against real directories and a real sandbox. */
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { callerPrograms } from '../../../src/backends/sandbox/caller-programs.js';
import { createRuntime } from '../../../src/index.js';

let home: string;
beforeEach(() => {
  // Not below /tmp, of which a cell has its own.
  home = realpathSync(mkdtempSync(join(homedir(), '.workcell-test-')));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const script = '#!/bin/sh\necho "the caller\'s go"\n';

function install(path: string, content: string | { copy: string } = script): string {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  if (typeof content === 'string') writeFileSync(file, content);
  else copyFileSync(content.copy, file);
  chmodSync(file, 0o755);
  return dirname(file);
}

/** A tree such as an unpacked Go. */
function installGo(tree: string): string {
  install(join(tree, 'pkg/tool/compile'));
  return install(join(tree, 'bin/go'));
}

type More = { home?: string; node?: string; cwd?: string; writable?: string[] };
const found = (folder: string, more: More = {}) =>
  callerPrograms({ path: `${folder}:/usr/bin:/bin`, home, node: '/usr/bin/node', ...more });

test('an installation is seen in the cell, read-only, first on the search path and without its settings', async () => {
  const folder = installGo('.tools/go-1.24');
  install('.tools/go-1.24/etc/npmrc', '//registry/:_authToken=secret');
  install('.tools/go-1.24/state/history', 'secret');
  install('.tools/private', 'secret');
  const before = process.env.PATH;
  process.env.PATH = `${folder}:${before}`;
  try {
    await using runtime = await createRuntime({ config: false, backend: 'sandbox' });
    const tree = dirname(folder);
    expect((await runtime.run('go')).output).toBe("the caller's go\n");
    expect((await runtime.run(`ls -1A ${tree}; ls -A ${dirname(tree)}`)).output).toBe('bin\npkg\ngo-1.24\n');
    expect((await runtime.run(`touch ${folder}/go ${folder}/x`)).exitCode).not.toBe(0);
  } finally {
    process.env.PATH = before;
  }
  process.env.PATH = `${folder}:${before}`;
  try {
    await using runtime = await createRuntime({ config: false, backend: 'sandbox', programs: 'system' });
    expect((await runtime.run('ls -A /root 2>&1; go')).output).not.toContain("the caller's go");
  } finally {
    process.env.PATH = before;
  }
});

test('a program of a home directory comes alone, and only if it stands alone', () => {
  const folder = install('.cargo/bin/rg', { copy: '/bin/true' });
  install('.cargo/credentials.toml', 'token');
  expect(found(folder)).toMatchObject({ mounts: [join(folder, 'rg')], path: [folder] });
  expect(found(install('bin/go'))).toMatchObject({ mounts: [], path: [] });
});

test.each([
  ['of a home that is a link', (link: string) => link],
  ['of the user where HOME says something else', () => '/nonexistent'],
])('the directories %s do not come along', (_what, homeFor) => {
  // A child of the real home, as ~/.local is one; tools and data lie side by side in it.
  const tree = mkdtempSync(join(homedir(), 'workcell-test-'));
  const link = join(home, 'link');
  symlinkSync(homedir(), link);
  try {
    const made = relative(home, tree);
    const folder = installGo(made);
    install(join(made, 'bin/rg'), { copy: '/bin/true' });
    install(join(made, 'share/keyrings/login'), 'secret');
    const rg = join(folder, 'rg');
    for (const asked of [folder, join(link, relative(homedir(), folder))])
      expect(found(asked, { home: homeFor(link) })).toMatchObject({ mounts: [rg], path: [folder] });
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
});

test.each(['.local', '.cargo'])('%s comes along from no home, known or not', (name) => {
  install(`someone/${name}/share/keyrings/login`, 'secret');
  expect(found(installGo(`someone/${name}`))).toMatchObject({ mounts: [], path: [] });
});

test.each([
  [
    'Node of nvm',
    '.nvm/versions/node/v22.1.0',
    'node',
    ['lib/node_modules/npm/index.js', 'share/man/node.1'],
  ],
  ['Python of pyenv', '.pyenv/versions/3.12.1', 'python3', ['lib/python3.12/os.py']],
  [
    'Java of SDKMAN',
    '.sdkman/candidates/java/21.0.1',
    'java',
    ['lib/modules', 'conf/java.security', 'release'],
  ],
  ['Rust of rustup', '.rustup/toolchains/stable', 'cargo', ['lib/rustlib/components']],
  ['Go in a directory of its own', 'sdk/go1.24', 'go', ['pkg/tool/compile', 'src/fmt/print.go', 'VERSION']],
])('%s comes along, without what is beside its parts', (_what, tree, name, files) => {
  // Version managers are checkouts.
  const [manager = ''] = tree.split('/');
  if (manager.startsWith('.')) for (const mark of ['.git/HEAD', 'package.json']) install(join(manager, mark));
  for (const file of [...files, 'conda-meta/state', 'etc/npmrc', '.npmrc', 'notes.txt'])
    install(join(tree, file));
  const folder = install(join(tree, 'bin', name));
  const parts = ['bin', ...files.map((file) => file.split('/')[0] as string)];
  const { mounts, path } = found(folder);
  expect([...mounts].sort()).toEqual([...new Set(parts)].map((part) => join(home, tree, part)).sort());
  expect(path).toEqual([folder]);
});

test('programs that are removed or installed later are noticed', () => {
  const folder = installGo('.tools/go-1');
  expect(found(folder).programs.go).toBe(join(folder, 'go'));
  rmSync(dirname(folder), { recursive: true });
  expect(found(folder)).toMatchObject({ mounts: [], path: [] });
  installGo('.tools/go-1');
  expect(found(folder).programs.go).toBe(join(folder, 'go'));
});

test('a shim of Node is replaced by the Node that runs the caller', () => {
  const shims = install('.volta/bin/node', '#!/bin/sh\nexec volta-shim "$@"\n');
  const node = join(install('.volta/tools/image/node/22.1.0/bin/node', { copy: '/bin/true' }), 'node');
  expect(found(shims, { node })).toMatchObject({ path: [dirname(node)], programs: { node } });
  const git = found(install('.asdf/shims/git', '#!/bin/sh\nexec asdf exec git "$@"\n'));
  expect(git).toMatchObject({ path: [], programs: { git: '/usr/bin/git' } });
});

test.each([
  [
    'what others may write',
    () => {
      const folder = installGo('.tools/go-1');
      chmodSync(dirname(folder), 0o777);
      return found(folder);
    },
  ],
  ['what a cell may write', () => found(installGo('repo/tools'), { writable: [join(home, 'repo')] })],
  [
    'a tree around what a cell may write',
    () => found(installGo('.tools/go-1'), { writable: [join(home, '.tools/go-1/work')] }),
  ],
  ['what a project puts on the search path', () => found(installGo('repo/node_modules/tools'))],
  [
    'what a cell may write by another name',
    () => {
      const folder = installGo('repo/tools');
      symlinkSync(join(home, 'repo'), join(home, 'linked'));
      return found(folder, { writable: [join(home, 'linked')] });
    },
  ],
  ['what is below the working directory', () => found(installGo('repo/tools'), { cwd: join(home, 'repo') })],
  [
    'a project with a bin',
    () => {
      install('work/shop/config/master.key', 'secret');
      install('work/shop/Gemfile');
      return found(installGo('work/shop'));
    },
  ],
  [
    'a binary in a project',
    () => {
      install('work/shop/package.json');
      install('work/shop/tools/bin/rg', { copy: '/bin/true' });
      return found(join(home, 'work/shop/tools/bin'));
    },
  ],
  [
    'a directory with a bin that is no installation',
    () => {
      install('work/things/lib/secret', 'secret');
      return found(install('work/things/bin/go'));
    },
  ],
  [
    'a link that leads elsewhere',
    () => {
      install('elsewhere/secret', 'x');
      const folder = installGo('.tools/go-1');
      rmSync(join(folder, 'go'));
      symlinkSync(join(home, 'elsewhere/secret'), join(folder, 'go'));
      return found(folder);
    },
  ],
  ['a relative directory', () => found('.')],
])('%s does not come along', (_what, look) => {
  expect(look()).toMatchObject({ mounts: [], path: [] });
});
