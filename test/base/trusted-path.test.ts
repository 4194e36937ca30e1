import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readTrusted, UntrustedPathError } from '../../src/base/trusted-path.js';
import { runAsStranger, stranger } from './as-user.js';

let place: string;

beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), 'workcell-trusted-')));
  chmodSync(place, 0o755);
  writeFileSync(join(place, 'file'), 'text');
});

afterEach(() => rmSync(place, { recursive: true, force: true }));

const refused = (path: string, reason: RegExp) => {
  expect(() => readTrusted(path)).toThrow(UntrustedPathError);
  expect(() => readTrusted(path)).toThrow(reason);
};

test('a file of this user is read, through links of this user too', () => {
  mkdirSync(join(place, 'a'));
  symlinkSync('../file', join(place, 'a', 'relative'));
  symlinkSync(join(place, 'a', 'relative'), join(place, 'absolute'));
  const open = { path: join(place, 'file'), text: 'text', isPrivate: false };
  expect(readTrusted(join(place, 'absolute'))).toEqual(open);
  chmodSync(join(place, 'file'), 0o600);
  expect(readTrusted(join(place, 'absolute'))).toEqual({ ...open, isPrivate: true });
  expect(() => readTrusted(join(place, 'absolute'), { follow: false })).toThrow(/is a symbolic link/);
});

test('a file of another user, or one that others can write, is refused', () => {
  chownSync(join(place, 'file'), stranger, 0);
  refused(join(place, 'file'), /belongs to user 65534/);
  chownSync(join(place, 'file'), 0, stranger);
  chmodSync(join(place, 'file'), 0o664);
  refused(join(place, 'file'), /can be written by other users \(mode 0664, group 65534\)/);
  chmodSync(join(place, 'file'), 0o646);
  refused(join(place, 'file'), /can be written by other users/);
});

test('so is what lies in a directory of another user, or that others can write', () => {
  mkdirSync(join(place, 'between'));
  writeFileSync(join(place, 'between', 'file'), '');
  chmodSync(join(place, 'between'), 0o777);
  refused(join(place, 'between', 'file'), /between can be written/);
  chmodSync(join(place, 'between'), 0o1777);
  expect(readTrusted(join(place, 'between', 'file')).text).toBe('');
  chownSync(join(place, 'between'), stranger, stranger);
  refused(join(place, 'between', 'file'), /between belongs to user 65534/);
});

test('a link of another user in a shared directory leads nowhere', () => {
  chmodSync(place, 0o1777);
  runAsStranger('import os, sys; os.symlink(*sys.argv[1:])', join(place, 'file'), join(place, 'link'));
  refused(join(place, 'link'), /link belongs to user 65534/);
});

test('a link of this user that leads through a directory of another one does not help', () => {
  mkdirSync(join(place, 'theirs'));
  symlinkSync(join(place, 'file'), join(place, 'theirs', 'inner'));
  symlinkSync('theirs/inner', join(place, 'link'));
  expect(readTrusted(join(place, 'link')).text).toBe('text');
  chownSync(join(place, 'theirs'), stranger, stranger);
  refused(join(place, 'link'), /theirs belongs to user 65534/);
});

test('links in a circle, named pipes, directories and large files are refused and not waited on', () => {
  symlinkSync('circle', join(place, 'circle'));
  refused(join(place, 'circle'), /too many links/);
  execFileSync('mkfifo', [join(place, 'pipe')]);
  refused(join(place, 'pipe'), /is not a regular file/);
  refused(place, /is not a regular file/);
  writeFileSync(join(place, 'file'), Buffer.alloc(1_048_577));
  refused(join(place, 'file'), /is larger than 1048576 bytes/);
});
