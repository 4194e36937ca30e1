import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Tree } from '../../../../src/cell/executor/files/file-tree.js';
import { codeOf, makeScratch, secret } from './scratch.js';

describe('a tree that is one directory of the machine', () => {
  it('takes relative paths from the workspace and absolute ones as they are', async () => {
    const { root, act } = makeScratch();
    writeFileSync(join(root, 'a.txt'), 'hello');
    expect(await act({ action: 'read', path: 'a.txt' })).toMatchObject({
      path: join(root, 'a.txt'),
      content: 'hello',
    });
    expect(await act({ action: 'read', path: `${root}//./a.txt` })).toMatchObject({
      path: join(root, 'a.txt'),
    });
    expect(await act({ action: 'stat', path: root })).toMatchObject({ path: root, type: 'directory' });
  });

  it('refuses every verb a path that leads out', async () => {
    const { root, outside, act } = makeScratch();
    symlinkSync(outside, join(root, 'link'));
    symlinkSync('../outside/secret.txt', join(root, 'file-link'));
    writeFileSync(join(root, 'own.txt'), 'own');
    const leading = [
      '/etc/passwd',
      '../outside/secret.txt',
      `${root}-evil`,
      `${root}/../outside`,
      'link/secret.txt',
      'a/../../outside',
    ];
    mkdirSync(join(root, 'a'));
    for (const path of [
      ...leading,
      'file-link',
      '/proc/self/root/etc/passwd',
      '/proc/self/cwd/x',
      '/dev/fd/0',
    ]) {
      const verbs = [
        act({ action: 'read', path }),
        act({ action: 'write', path, content: 'x' }),
        act({ action: 'write', path, content: 'x', append: true }),
        act({ action: 'edit', path, oldText: 's', newText: 't' }),
        act({ action: 'list', path }),
        act({ action: 'watch', path }),
        act({ action: 'glob', path, pattern: '*' }),
        act({ action: 'grep', path, pattern: 'e' }),
        act({ action: 'make_dir', path: `${path}/new` }),
      ];
      for (const verb of verbs) expect(await codeOf(verb), path).toBe('path-outside');
    }
    for (const path of leading) {
      const verbs = [
        act({ action: 'stat', path }),
        act({ action: 'remove', path, recursive: true, force: true }),
        act({ action: 'move', from: path, to: 'stolen' }),
        act({ action: 'move', from: 'own.txt', to: path, overwrite: true }),
        act({ action: 'copy', from: path, to: 'stolen' }),
        act({ action: 'copy', from: 'own.txt', to: path, overwrite: true }),
      ];
      for (const verb of verbs) expect(await codeOf(verb), path).toBe('path-outside');
    }
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe(secret);
  });

  it('takes encoded, backslashed and look-alike dots for plain names', async () => {
    const { root, act } = makeScratch();
    for (const path of [
      '%2e%2e/secret',
      '%252e%252e%252fsecret',
      '..\\outside\\secret.txt',
      '．．/secret',
      '‥/x',
      '..\uFEFF/x',
    ]) {
      await act({ action: 'write', path, content: path });
      expect(readFileSync(join(root, path), 'utf8')).toBe(path);
    }
    expect(await codeOf(act({ action: 'read', path: 'a\0b' }))).toBe('invalid-action');
  });

  it('accepts the directory by its real path when it was given through a link', async () => {
    const { root, outside, act } = makeScratch();
    writeFileSync(join(root, 'a.txt'), 'hello');
    const alias = join(outside, 'alias');
    symlinkSync(root, alias);
    const tree = new Tree({ root: alias, mount: alias, workspace: alias });
    expect(tree.checkDirectory(realpathSync(root))).toBe(root);
    expect(tree.checkDirectory('.')).toBe(alias);
    expect(() => tree.checkDirectory(`${root}x`)).toThrow(/leads out/);
    tree.close();
    expect(await act({ action: 'read', path: 'a.txt' })).toMatchObject({ content: 'hello' });
  });

  it('follows links within, absolute and relative, and stops at a loop', async () => {
    const { root, act } = makeScratch();
    mkdirSync(join(root, 'deep/er'), { recursive: true });
    writeFileSync(join(root, 'deep/file.txt'), 'found');
    symlinkSync('../file.txt', join(root, 'deep/er/relative'));
    symlinkSync(join(root, 'deep'), join(root, 'absolute'));
    symlinkSync('.', join(root, 'deep/self'));
    symlinkSync('loop-b', join(root, 'loop-a'));
    symlinkSync('loop-a', join(root, 'loop-b'));
    for (const path of [
      'deep/er/relative',
      'absolute/er/relative',
      'absolute/er/../file.txt',
      'deep/self/self/file.txt',
    ]) {
      expect(await act({ action: 'read', path })).toMatchObject({ content: 'found' });
    }
    expect((await act({ action: 'read', path: 'absolute/er/../file.txt' })).path).toBe(
      join(root, 'deep/file.txt'),
    );
    expect((await act({ action: 'list', path: 'deep/self' })).entries).toHaveLength(3);
    expect(await codeOf(act({ action: 'read', path: 'loop-a' }))).toBe('not-found');
    expect(await codeOf(act({ action: 'read', path: 'loop-a/x' }))).toBe('not-found');
  });

  it('finds a workspace again that was removed and made anew', async () => {
    const { root, act } = makeScratch();
    const { rmSync } = await import('node:fs');
    rmSync(root, { recursive: true });
    mkdirSync(root);
    await act({ action: 'write', path: 'a.txt', content: 'again' });
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('again');
  });
});

describe('a tree that is the whole file system of a cell', () => {
  it('stays at the root with `..` and takes absolute links as seen from inside', async () => {
    const { root, act } = makeScratch({ whole: true });
    mkdirSync(join(root, 'etc'));
    writeFileSync(join(root, 'etc/passwd'), 'inside');
    symlinkSync('/etc/passwd', join(root, 'workspace/link'));
    symlinkSync('../../../../../../etc', join(root, 'workspace/climb'));
    symlinkSync('/', join(root, 'workspace/top'));
    for (const path of [
      '/etc/passwd',
      '../../../../etc/passwd',
      'link',
      'climb/passwd',
      'top/etc/passwd',
      '/../etc/passwd',
    ]) {
      expect(await act({ action: 'read', path }), path).toMatchObject({ content: 'inside' });
    }
    expect(await act({ action: 'read', path: '../../etc/passwd' })).toMatchObject({ path: '/etc/passwd' });
    expect(await act({ action: 'read', path: 'link' })).toMatchObject({ path: '/workspace/link' });
    expect((await act({ action: 'list', path: 'top' })).entries.map(({ name }) => name)).toEqual([
      'etc',
      'workspace',
    ]);
  });

  it('does not reach the file systems of the kernel', async () => {
    const { act } = makeScratch();
    const tree = new Tree({ root: '/', mount: '/', workspace: '/' });
    for (const path of [
      '/proc',
      '/proc/self',
      '/proc/self/root',
      '/proc/1/root',
      '/proc/self/cwd',
      '/proc/self/fd',
      '/sys',
    ]) {
      expect(() => tree.checkDirectory(path), path).toThrow(/kernel/);
    }
    expect(() => tree.openFile('/proc/self/environ', 0)).toThrow();
    tree.close();
    expect(await act({ action: 'list' })).toMatchObject({ truncated: false });
  });

  it('answers a very long way up and down', async () => {
    const { act } = makeScratch({ whole: true });
    const path = `${'a/'.repeat(900)}${'../'.repeat(700)}b.txt`;
    await act({ action: 'write', path, content: 'x' });
    expect((await act({ action: 'stat', path: `${'a/'.repeat(200)}b.txt` })).type).toBe('file');
    expect(await codeOf(act({ action: 'read', path: 'a/../'.repeat(800) }))).toBe('not-a-file');
  });
});
