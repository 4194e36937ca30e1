/** Work in a repository: commits, branches, worktrees, set-up. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { rules } from '../../../src/runtime/security/index.js';
import { given, Repository, trustedPlaces } from './repository.js';

describe.each([...trustedPlaces, 'local'] as const)('%s', (place) => {
  test('from an empty directory to a second commit on a work branch', async () => {
    const { runtime } = await given(place);
    await runtime.git.init();
    await runtime.write('file', 'one\n');
    const first = await runtime.git.commit('first: a "quoted" subject\n\nand a body');
    expect(first).toMatchObject({ subject: 'first: a "quoted" subject', body: 'and a body', parents: [] });
    expect(first.author).toEqual({ name: 'Workcell', email: 'workcell@localhost' });
    const branch = await runtime.git.workBranch();
    expect(branch).toMatch(/^workcell-[a-z0-9]{8}$/);
    await runtime.write('file', 'two\n');
    await runtime.write('left out', 'x');
    const author = { name: 'Ann', email: 'ann@example.org' };
    const second = await runtime.git.commit('-second', { paths: ['file'], author });
    expect(second).toMatchObject({ subject: '-second', author, parents: [first.id] });
    expect(await runtime.git.commitChanges(second.id)).toEqual([{ status: 'modified', path: 'file' }]);
    expect((await runtime.git.status()).files.map(({ path }) => path)).toEqual(['left out']);
    await expect(runtime.git.commit('nothing', { staged: true })).rejects.toMatchObject({
      code: 'git-failed',
    });
    await runtime.git.checkout('main');
    expect((await runtime.read('file')).content).toBe('one\n');
    await runtime.git.checkout(second.id);
    expect(await runtime.git.branch()).toBeNull();
  });

  test('an identity of the cell is used, and variables lead git nowhere else', async () => {
    const { runtime } = await given(place);
    await runtime.env.set({
      GIT_AUTHOR_NAME: 'Env',
      GIT_AUTHOR_EMAIL: 'env@example.org',
      GIT_COMMITTER_NAME: 'Env',
      GIT_COMMITTER_EMAIL: 'env@example.org',
      GIT_DIR: '/nowhere',
      GIT_EXTERNAL_DIFF: 'touch /tmp/external',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.fsmonitor',
      GIT_CONFIG_VALUE_0: 'touch fsmonitor',
    });
    await runtime.git.init();
    await runtime.write('file', 'one\n');
    expect((await runtime.git.commit('first')).author.name).toBe('Env');
    await runtime.write('file', 'two\n');
    expect((await runtime.git.diff()).patch).toContain('+two');
    expect((await runtime.git.status()).files.map(({ path }) => path)).toEqual(['file']);
  });

  test('names that are options or no names are refused', async () => {
    const { runtime } = await given(place);
    await runtime.git.init();
    await runtime.write('file', 'one\n');
    await runtime.git.commit('first');
    for (const name of ['--orphan', '-b', 'a b', 'a..b', 'x.lock', '', '@{-1}', 'a\nb', 'refs/heads/', '~'])
      await expect(runtime.git.checkout(name, { create: true }), name).rejects.toMatchObject({
        code: 'invalid-action',
      });
    for (const ref of ['--output=stolen', '-p', 'missing', 'a b', '\u0001']) {
      for (const work of [
        () => runtime.git.checkout(ref),
        () => runtime.git.changes({ base: ref }),
        () => runtime.git.diff(ref),
        () => runtime.git.log({ ref }),
        () => runtime.git.blame('file', { ref }),
        () => runtime.git.fileDiff('file', { base: ref }),
        () => runtime.git.commitChanges(ref),
      ])
        await expect(work(), ref).rejects.toMatchObject({ code: 'unknown-ref' });
    }
    expect(await runtime.files.exists('stolen')).toBe(false);
    await expect(runtime.git.log({ paths: ['--all'] })).resolves.toEqual([]);
  });

  test('worktrees are added, listed and removed', async () => {
    const { runtime } = await given(place);
    const main = runtime.git.at('main');
    await runtime.files.makeDir('main');
    await main.init();
    await main.commit('first', { allowEmpty: true });
    const second = await main.worktrees.add('../second tree', { branch: 'second' });
    await runtime.write('second tree/file', 'x');
    const { id } = await second.commit('in the second');
    expect(await main.worktrees.list()).toMatchObject([
      { path: `${runtime.workspace}/main`, branch: 'main' },
      { path: `${runtime.workspace}/second tree`, branch: 'second', head: id, isLocked: false },
    ]);
    await main.worktrees.remove('../second tree');
    expect(await main.worktrees.list()).toHaveLength(1);
    expect((await main.branches()).map(({ name }) => name)).toEqual(['main', 'second']);
  });

  test.each(['.workcell', '.openhands'])(
    '%s: the set-up runs once, the check before each commit',
    async (folder) => {
      const statuses: string[] = [];
      const onStatus = ({ status }: { status: string }) => statuses.push(status);
      const { directory, runtime } = await given(place, { onStatus });
      const repository = new Repository(join(directory, "it's a repository"));
      repository.write(`${folder}/setup.sh`, 'echo ran >> ran\nexport FROM_SETUP=yes\n');
      repository.write(`${folder}/pre-commit.sh`, 'echo checked >> .git/checked\ntest ! -e forbidden\n');
      repository.write('.gitignore', 'ran\n');
      repository.commit('wishes');
      repository.write('.git/hooks/pre-commit', '#!/bin/sh\necho kept >> .git/checked\n', 0o755);
      const git = runtime.git.at("it's a repository");
      const [first, again] = await Promise.all([git.setUp(), git.at('.git/..').at(folder).setUp()]);
      expect(first).toMatchObject({
        script: { path: `${folder}/setup.sh`, result: { exitCode: 0 } },
        preCommit: `${folder}/pre-commit.sh`,
      });
      expect(again).toBe(first);
      expect((await git.status()).isClean).toBe(true);
      expect(statuses.slice(-4)).toEqual(['READY', 'SETTING_UP_WORKSPACE', 'SETTING_UP_GIT_HOOKS', 'READY']);
      expect(readFileSync(join(repository.path, 'ran'), 'utf8')).toBe('ran\n');
      expect((await runtime.run('echo $FROM_SETUP')).output).toBe('yes\n');
      await git.commit('allowed', { allowEmpty: true });
      expect(readFileSync(join(repository.path, '.git/checked'), 'utf8')).toBe('kept\nchecked\n');
      repository.write('forbidden', 'x');
      await expect(git.commit('refused')).rejects.toMatchObject({ code: 'git-failed' });
      await git.commit('without hooks', { hooks: false });
      repository.remove(folder);
      repository.remove('forbidden');
      await git.commit('the check is gone');
      expect((await git.log()).map(({ subject }) => subject)).toEqual([
        'the check is gone',
        'without hooks',
        'allowed',
        'wishes',
      ]);
    },
  );

  test('a repository without wishes has nothing set up', async () => {
    const { directory, runtime } = await given(place);
    const git = await runtime.git.prepare();
    expect(await git.setUp()).toEqual({ script: null, preCommit: null });
    expect(existsSync(join(directory, '.git/hooks'))).toBe(false);
  });

  test('an empty repository is prepared too', async () => {
    const { runtime } = await given(place);
    await runtime.run('git init -q --bare empty.git');
    const git = await runtime.git.prepare({ repository: './empty.git' });
    expect(git.path).toBe(`${runtime.workspace}/empty`);
    await runtime.write('empty/file', '1');
    await git.commit('first');
    await git.push();
    expect(await runtime.git.at('empty.git').log({ ref: (await git.branch()) ?? '' })).toHaveLength(1);
  });

  test('what rules find harmless passes under a policy', async () => {
    const { runtime } = await given(place, { guards: [rules()] });
    await runtime.write('origin/file', 'one\n');
    const origin = runtime.git.at('origin');
    await origin.init();
    await origin.commit('first');
    const git = await runtime.git.prepare({ repository: './origin', into: 'clone' });
    await runtime.write('clone/file', 'two\n');
    expect((await git.diff()).files).toHaveLength(1);
    await git.commit('second');
    await git.push();
    await git.checkout('main');
    await git.pull();
    await git.worktrees.add('../tree');
    expect((await git.status()).isClean).toBe(true);
    await expect(git.changes({ base: 'HEAD' })).resolves.toEqual([]);
    expect(await git.blame('file')).toHaveLength(1);
    expect(await git.log()).toHaveLength(1);
  });

  test('a cancelled command is ended', async () => {
    const { directory, runtime } = await given(place);
    const repository = new Repository(directory);
    repository.write('.git/hooks/pre-commit', '#!/bin/sh\ntouch started\nexec sleep 1000\n', 0o755);
    repository.write('file', '1');
    const stop = new AbortController();
    const watch = await runtime.files.watch('.');
    const commit = runtime.git.commit('never', { signal: stop.signal });
    const started = (async () => {
      for await (const { path } of watch) if (path.endsWith('started')) break;
    })();
    // A commit that fails before its hook begins says why.
    await Promise.race([started, commit]);
    stop.abort();
    await expect(commit).rejects.toMatchObject({ code: 'cancelled' });
    expect((await runtime.processes.list()).filter(({ running }) => running)).toEqual([]);
  });
});
