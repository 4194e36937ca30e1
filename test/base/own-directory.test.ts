import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  enterOwn,
  openOwnDirectory,
  runtimeDirectory,
  temporaryDirectory,
} from '../../src/base/own-directory.js';
import { runAsStranger, stranger } from './as-user.js';

let shared: string;

beforeEach(() => {
  shared = realpathSync(mkdtempSync(join(tmpdir(), 'workcell-shared-')));
  chmodSync(shared, 0o1777);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(shared, { recursive: true, force: true });
});

const refused = (path: string) =>
  expect(() => openOwnDirectory(path)).toThrow(
    expect.objectContaining({ code: 'permission-denied', message: expect.stringContaining(path) }),
  );

test('is made for this user alone, whatever the mask, and opened again', () => {
  const mask = process.umask(0);
  const { path, base } = openOwnDirectory(join(shared, 'a', 'own'));
  process.umask(mask);
  expect(lstatSync(path).mode & 0o7777).toBe(0o700);
  expect(realpathSync(base)).toBe(path);
  expect(openOwnDirectory(path).base).toBe(base);
});

test('is made anew when it was removed', () => {
  const { path } = openOwnDirectory(join(shared, 'own'));
  rmSync(path, { recursive: true });
  expect(realpathSync(openOwnDirectory(path).base)).toBe(path);
});

describe('is refused', () => {
  test('when another user was there first', () => {
    const path = join(shared, 'own');
    runAsStranger('import os, sys; os.mkdir(sys.argv[1], 0o700)', path);
    refused(path);
  });

  test('when it is a link, wherever that leads', () => {
    mkdirSync(join(shared, 'real'), { mode: 0o700 });
    runAsStranger('import os, sys; os.symlink(*sys.argv[1:])', join(shared, 'real'), join(shared, 'foreign'));
    symlinkSync(join(shared, 'real'), join(shared, 'mine'));
    refused(join(shared, 'foreign'));
    refused(join(shared, 'mine'));
  });

  test('when others can enter it, and when it is no directory', () => {
    mkdirSync(join(shared, 'open'));
    chmodSync(join(shared, 'open'), 0o711);
    refused(join(shared, 'open'));
    writeFileSync(join(shared, 'file'), '');
    refused(join(shared, 'file'));
  });

  test('below a directory that others own, or may write to without the sticky bit', () => {
    mkdirSync(join(shared, 'theirs'));
    chownSync(join(shared, 'theirs'), stranger, stranger);
    mkdirSync(join(shared, 'loose'));
    chmodSync(join(shared, 'loose'), 0o777);
    refused(join(shared, 'theirs', 'own'));
    refused(join(shared, 'loose', 'own'));
  });
});

test('a runtime directory that another user left in the environment is not used', () => {
  vi.stubEnv('TMPDIR', shared);
  const foreign = join(shared, 'run');
  runAsStranger('import os, sys; os.mkdir(sys.argv[1], 0o700)', foreign);
  vi.stubEnv('XDG_RUNTIME_DIR', foreign);
  expect(runtimeDirectory()).toEqual(temporaryDirectory());
  expect(existsSync(join(foreign, 'workcell'))).toBe(false);
  chownSync(foreign, 0, 0);
  expect(runtimeDirectory().path).toBe(join(foreign, 'workcell'));
});

test('what is in it is entered only as a directory of the same user', () => {
  const own = openOwnDirectory(join(shared, 'own'));
  for (const name of ['mine', 'theirs']) mkdirSync(join(own.path, name));
  chownSync(join(own.path, 'theirs'), stranger, stranger);
  symlinkSync(join(own.path, 'mine'), join(own.path, 'link'));
  for (const name of ['theirs', 'link', 'none', '..', '.', '', '../own', 'mine/..'])
    expect(enterOwn(own, name)).toBeUndefined();
  using mine = enterOwn(own, 'mine');
  expect(mine?.path).toBe(join(own.path, 'mine'));
});
