/** What inspection shows of a repository. */
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { given, makeDirectory, Repository, trustedPlaces } from './repository.js';

describe.each(trustedPlaces)('%s', (place) => {
  test('status tells staged, unstaged, new, renamed and deleted files, whatever their names', async () => {
    const { directory, runtime } = await given(place);
    const repository = new Repository(directory);
    repository.write('to stage', '1');
    repository.write('to change', '1');
    repository.write('to delete', '1');
    repository.write('old name', 'content that is long enough to be recognised\n');
    const head = repository.commit('first');
    repository.write('to stage', '2');
    renameSync(join(directory, 'old name'), join(directory, 'new\nname'));
    repository.git('add', '-A');
    repository.write('to change', '2');
    repository.remove('to delete');
    repository.write('späße/-dash "quoted"\t', 'x');
    const status = await runtime.git.status();
    expect(status).toMatchObject({
      root: runtime.workspace,
      branch: 'main',
      head,
      upstream: null,
      isClean: false,
    });
    const plain = { isConflicted: false, isSubmodule: false };
    expect(status.files).toEqual([
      { path: 'new\nname', from: 'old name', staged: 'renamed', unstaged: null, ...plain },
      { path: 'to change', staged: null, unstaged: 'modified', ...plain },
      { path: 'to delete', staged: null, unstaged: 'deleted', ...plain },
      { path: 'to stage', staged: 'modified', unstaged: null, ...plain },
      { path: 'späße/-dash "quoted"\t', staged: null, unstaged: 'untracked', ...plain },
    ]);
  });

  test('a repository without a commit, and one with a detached head', async () => {
    const { directory, runtime } = await given(place);
    await expect(runtime.git.status()).rejects.toMatchObject({ code: 'not-a-repository' });
    const repository = new Repository(directory);
    repository.write('file', '1');
    expect(await runtime.git.status()).toMatchObject({ branch: 'main', head: null });
    expect(await runtime.git.branch()).toBe('main');
    expect(await runtime.git.log()).toEqual([]);
    expect(await runtime.git.changes()).toEqual([{ status: 'added', path: 'file' }]);
    expect((await runtime.git.diff()).patch).toContain('+1');
    const head = repository.commit('first');
    repository.git('checkout', '-q', '--detach');
    expect(await runtime.git.status()).toMatchObject({ branch: null, head, isClean: true });
    expect(await runtime.git.branch()).toBeNull();
  });

  test('changes are counted from a base, with and without renames, nested repositories beneath their names', async () => {
    const { directory, runtime } = await given(place);
    const repository = new Repository(directory);
    repository.write('kept', 'x');
    repository.write('a name', 'content that is long enough to be recognised\n');
    repository.commit('base');
    repository.git('checkout', '-q', '-b', 'feature');
    renameSync(join(directory, 'a name'), join(directory, 'another name'));
    repository.commit('moved');
    repository.write('new', '1');
    new Repository(join(directory, 'inner one')).write('file', '1');
    const nested = { status: 'added', path: 'inner one/file' };
    expect(await runtime.git.changes()).toEqual([
      { status: 'deleted', path: 'a name' },
      { status: 'added', path: 'another name' },
      nested,
      { status: 'added', path: 'new' },
    ]);
    expect(await runtime.git.changes({ renames: true })).toEqual([
      { status: 'renamed', from: 'a name', path: 'another name' },
      nested,
      { status: 'added', path: 'new' },
    ]);
    expect(await runtime.git.changes({ base: 'HEAD' })).toEqual([nested, { status: 'added', path: 'new' }]);
    expect(await runtime.git.commitChanges('HEAD')).toHaveLength(2);
  });

  test('a diff is a patch that git applies, new and binary files included', async () => {
    const { directory, runtime } = await given(place);
    const repository = new Repository(directory);
    repository.write('text', 'one\ntwo\nthree\n');
    repository.write('to move', 'content that is long enough to be recognised\n');
    const base = repository.commit('first');
    repository.write('text', 'one\n2\nthree\n');
    repository.git('mv', 'to move', 'moved');
    repository.write('new äöü file', 'new\n');
    repository.write('binary', Buffer.from([0, 1, 2, 255, 0]));
    const { patch, files, truncated } = await runtime.git.diff({ base, binary: true });
    expect(truncated).toBe(false);
    expect(files).toEqual([
      { path: 'moved', from: 'to move', added: 0, deleted: 0, isBinary: false },
      { path: 'text', added: 1, deleted: 1, isBinary: false },
      { path: 'binary', added: 0, deleted: 0, isBinary: true },
      { path: 'new äöü file', added: 1, deleted: 0, isBinary: false },
    ]);
    const copy = new Repository(makeDirectory());
    copy.git('fetch', '-q', directory, 'main');
    copy.git('checkout', '-q', base);
    copy.write('the.patch', patch);
    copy.git('apply', 'the.patch');
    copy.remove('the.patch');
    repository.git('add', '-A');
    copy.git('add', '-A');
    expect(copy.git('write-tree')).toBe(repository.git('write-tree'));
  });

  test('a diff larger than wanted says so, a large file has no whole diff', async () => {
    const { directory, runtime } = await given(place);
    const repository = new Repository(directory);
    repository.write('large', 'x\n'.repeat(1024 * 1024));
    repository.commit('first');
    repository.write('large', 'y\n'.repeat(1024 * 1024));
    expect(await runtime.git.changes({ base: 'HEAD' })).toEqual([{ status: 'modified', path: 'large' }]);
    const { truncated, patch, files } = await runtime.git.diff({ maxBytes: 4096 });
    expect({ truncated, files }).toEqual({
      truncated: true,
      files: [{ path: 'large', added: 1024 * 1024, deleted: 1024 * 1024, isBinary: false }],
    });
    expect(patch.length).toBeLessThan(8192);
    await expect(runtime.git.fileDiff('large')).rejects.toMatchObject({ code: 'file-too-large' });
  });

  test('submodules are told as such, and only when their commit differs', async () => {
    const { directory, runtime } = await given(place);
    const source = new Repository(join(directory, 'source'));
    source.write('file', '1');
    source.commit('first');
    const repository = new Repository(join(directory, 'main repository'));
    repository.git(
      '-c',
      'protocol.file.allow=always',
      'submodule',
      '--quiet',
      'add',
      source.path,
      'sub module',
    );
    repository.commit('with a submodule');
    const git = runtime.git.at('main repository');
    repository.write('sub module/untracked', 'x');
    expect((await git.status()).isClean).toBe(true);
    expect(await git.changes()).toEqual([{ status: 'added', path: 'sub module/untracked' }]);
    const inner = new Repository(join(repository.path, 'sub module'));
    inner.commit('second');
    expect((await git.status()).files).toMatchObject([
      { path: 'sub module', unstaged: 'modified', isSubmodule: true },
    ]);
  });

  test('log, blame and one whole file', async () => {
    const { directory, runtime } = await given(place);
    const repository = new Repository(directory);
    repository.write('file', 'one\n');
    const first = repository.commit('first subject\n\nbody line\n\nanother');
    repository.write('file', 'one\n\ttwo ä\n');
    repository.write('other', 'x');
    const second = repository.commit('second');
    repository.write('file', 'one\n\ttwo ä\nthree');
    const log = await runtime.git.log();
    expect(log.map(({ id, parents, subject, body }) => ({ id, parents, subject, body }))).toEqual([
      { id: second, parents: [first], subject: 'second', body: '' },
      { id: first, parents: [], subject: 'first subject', body: 'body line\n\nanother' },
    ]);
    expect(log[0]?.author).toEqual({ name: 'A U Thor', email: 'a@example.org' });
    expect((await runtime.git.log({ paths: ['other'] })).map(({ id }) => id)).toEqual([second]);
    expect((await runtime.git.log({ limit: 1, skip: 1 })).map(({ id }) => id)).toEqual([first]);
    expect(
      (await runtime.git.blame('file')).map(({ line, commit, text }) => ({ line, commit, text })),
    ).toEqual([
      { line: 1, commit: first, text: 'one' },
      { line: 2, commit: second, text: '\ttwo ä' },
      { line: 3, commit: null, text: 'three' },
    ]);
    expect(await runtime.git.blame('file', { ref: 'HEAD', lines: [2, 2] })).toMatchObject([
      { line: 2, commit: second, subject: 'second', author: { name: 'A U Thor' } },
    ]);
    expect(await runtime.git.fileDiff('file', { base: first })).toEqual({
      original: 'one\n',
      modified: 'one\n\ttwo ä\nthree',
    });
  });

  test('conflicts and the distance to the branch that is followed', async () => {
    const { directory, runtime } = await given(place);
    const repository = new Repository(directory);
    repository.write('file', 'base\n');
    repository.commit('base');
    repository.git('checkout', '-q', '-b', 'theirs');
    repository.write('file', 'theirs\n');
    repository.commit('theirs');
    repository.git('checkout', '-q', 'main');
    repository.write('file', 'ours\n');
    repository.commit('ours');
    repository.git('branch', '-q', '--set-upstream-to=theirs');
    expect(() => repository.git('merge', '-q', 'theirs')).toThrow();
    const status = await runtime.git.status();
    expect(status.upstream).toEqual({ name: 'theirs', ahead: 1, behind: 1 });
    expect(status.files).toMatchObject([{ path: 'file', isConflicted: true }]);
    expect(await runtime.git.branches()).toEqual([
      { name: 'main', commit: repository.git('rev-parse', 'main'), isCurrent: true, upstream: 'theirs' },
      { name: 'theirs', commit: repository.git('rev-parse', 'theirs'), isCurrent: false, upstream: null },
    ]);
  });
});
