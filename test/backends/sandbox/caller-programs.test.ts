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
import { dirname, join } from 'node:path';
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

const found = (folder: string, more: { node?: string; writable?: string[] } = {}) =>
  callerPrograms({ path: `${folder}:/usr/bin:/bin`, home, node: '/usr/bin/node', ...more });

test('an installation is seen in the cell, read-only, first on the search path and without its settings', async () => {
  const folder = install('.tools/go-1.24/bin/go');
  install('.tools/go-1.24/etc/npmrc', '//registry/:_authToken=secret');
  install('.tools/private', 'secret');
  const before = process.env.PATH;
  process.env.PATH = `${folder}:${before}`;
  try {
    await using runtime = await createRuntime({ config: false, backend: 'sandbox' });
    const tree = dirname(folder);
    expect((await runtime.run('go')).output).toBe("the caller's go\n");
    expect((await runtime.run(`ls ${tree}; ls -A ${dirname(tree)}`)).output).toBe('bin\ngo-1.24\n');
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
      const folder = install('.tools/go-1/bin/go');
      chmodSync(dirname(folder), 0o777);
      return found(folder);
    },
  ],
  ['what a cell may write', () => found(install('repo/tools/bin/go'), { writable: [join(home, 'repo')] })],
  [
    'a tree around what a cell may write',
    () => found(install('.tools/go-1/bin/go'), { writable: [join(home, '.tools/go-1/work')] }),
  ],
  ['what a project puts on the search path', () => found(install('repo/node_modules/tools/bin/go'))],
  [
    'a link that leads elsewhere',
    () => {
      install('elsewhere/secret', 'x');
      const folder = install('.tools/go-1/bin/go');
      rmSync(join(folder, 'go'));
      symlinkSync(join(home, 'elsewhere/secret'), join(folder, 'go'));
      return found(folder);
    },
  ],
  ['a relative directory', () => found('.')],
])('%s does not come along', (_what, look) => {
  expect(look()).toMatchObject({ mounts: [], path: [] });
});
