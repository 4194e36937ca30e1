/** Repositories that come with traps: looking at them starts nothing, inside the cell or outside. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RuntimeGit } from '../../../src/index.js';
import { given, makeDirectory, places, Repository } from './repository.js';

/** Every verb that only looks. */
async function lookAround(git: RuntimeGit, file: string): Promise<void> {
  await git.status();
  await git.changes();
  await git.changes({ base: 'HEAD', renames: true });
  await git.diff({ binary: true });
  await git.diff('HEAD');
  await git.fileDiff(file);
  await git.fileDiff(file, { commit: 'HEAD' });
  await git.commitChanges('HEAD');
  await git.log();
  await git.log({ paths: [file] });
  await git.blame(file);
  await git.blame(file, { ref: 'HEAD' });
  await git.branch();
  await git.branches();
  await git.worktrees.list();
}

describe.each(places)('%s', (place) => {
  /** A repository with every trap that a delivered directory can hold. `trap` is a command, seen from inside. */
  async function trapped() {
    const { directory, runtime } = await given(place);
    const repository = new Repository(join(directory, 'repository'));
    const inside = `${runtime.workspace}/repository`;
    const marker = join(directory, 'sprung');
    const trap = `${inside}/trap`;
    // What a filter gets it passes on; to those that would talk with it, it says nothing.
    repository.write(
      'trap',
      `#!/bin/sh\necho "$0 $*" >> '${runtime.workspace}/sprung'\ncase "$1" in ''|git-*) ;; *) cat ;; esac\n`,
      0o755,
    );
    repository.write('file', 'one\n');
    repository.write('.gitattributes', '* filter=a=b diff=shown\n*.lfs filter=lfs diff=shown\n');
    repository.write('big.lfs', 'one\n');
    repository.commit('first');
    repository.write('file', 'two\n');
    repository.commit('second');
    return { directory, runtime, repository, inside, marker, trap };
  }

  function configure(repository: Repository, trap: string): void {
    const driver = `clean = ${trap} %f\n\tsmudge = ${trap} %f\n\tprocess = ${trap}\n\trequired = true`;
    appendFileSync(
      join(repository.path, '.git/config'),
      `[core]
	fsmonitor = ${trap}
	hooksPath = .git/hooks
	pager = ${trap}
	editor = ${trap}
	sshCommand = ${trap}
	askPass = ${trap}
	gitProxy = ${trap}
	alternateRefsCommand = ${trap}
[pager]
	log = ${trap}
	diff = ${trap}
	status = ${trap}
	blame = ${trap}
[diff]
	external = ${trap}
[diff "shown"]
	command = ${trap}
	textconv = ${trap}
	cachetextconv = true
[filter "a=b"]
	${driver}
[filter ""]
	${driver}
[include]
	path = more
[gpg]
	program = ${trap}
[gpg "ssh"]
	program = ${trap}
[log]
	showSignature = true
[credential]
	helper = ${trap}
[protocol]
	allow = always
[protocol "ext"]
	allow = always
[extensions]
	partialClone = evil
[remote "evil"]
	url = ext::${trap} %S
	promisor = true
	uploadpack = ${trap}
	vcs = ext
[submodule "sub"]
	update = !${trap}
	url = ext::${trap}
	active = true
[alias]
	status = !${trap}
	log = !${trap}
	diff = !${trap}
`,
    );
    repository.write('.git/more', `[filter "lfs"]\n\t${driver}\n`);
    repository.write('.git/info/attributes', 'file filter=a=b diff=shown\nother filter=\n');
    for (const hook of ['post-index-change', 'reference-transaction', 'fsmonitor-watchman', 'post-checkout'])
      repository.write(`.git/hooks/${hook}`, `#!/bin/sh\nexec ${trap} hook ${hook}\n`, 0o755);
  }

  test('settings, attributes, hooks, filters, drivers, aliases and helpers', async () => {
    const { runtime, repository, marker, trap } = await trapped();
    configure(repository, trap);
    for (const name of ['file', 'big.lfs', 'other', 'new'])
      writeFileSync(join(repository.path, name), `changed ${name}\n`);
    await lookAround(runtime.git.at('repository'), 'file');
    expect(existsSync(marker)).toBe(false);
    expect((await runtime.git.changes()).map(({ path }) => path)).toContain('repository/file');
    expect(existsSync(marker)).toBe(false);
    // The traps work: ordinary git steps into them.
    await runtime.run('cd repository && git status < /dev/null > /dev/null');
    expect(existsSync(marker)).toBe(true);
  });

  test('objects that only a remote has are not fetched, signatures are not checked', async () => {
    const { runtime, repository, marker, trap } = await trapped();
    const blob = repository.git('rev-parse', 'HEAD~1:file');
    rmSync(join(repository.path, '.git/objects', blob.slice(0, 2), blob.slice(2)));
    const tree = repository.git('rev-parse', 'HEAD^{tree}');
    const who = 'A <a@example.org> 1 +0000';
    const signature = '-----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----';
    repository.write(
      '.git/signed',
      `tree ${tree}\nparent ${repository.git('rev-parse', 'HEAD')}\nauthor ${who}\ncommitter ${who}\ngpgsig ${signature}\n\nsigned\n`,
    );
    repository.git(
      'reset',
      '-q',
      '--soft',
      repository.git('hash-object', '-t', 'commit', '-w', '.git/signed'),
    );
    configure(repository, trap);
    appendFileSync(
      join(repository.path, '.git/config'),
      `[core]\n\trepositoryFormatVersion = 1\n\tfsmonitor = false\n[remote "other"]\n\turl = ext::${trap} %S\n\tpromisor = true\n[remote "evil"]\n\tvcs =\n`,
    );
    const git = runtime.git.at('repository');
    await expect(git.diff('HEAD~2')).rejects.toMatchObject({ code: 'git-failed' });
    expect((await git.log()).map(({ subject }) => subject)).toEqual(['signed', 'second', 'first']);
    expect(existsSync(marker)).toBe(false);
    for (const command of ['log --format=%s', 'cat-file blob HEAD~2:file']) {
      await runtime.run(
        `cd ${runtime.workspace}/repository && git --no-pager ${command} < /dev/null > /dev/null`,
      );
      expect([command, existsSync(marker)]).toEqual([command, true]);
      rmSync(marker, { force: true });
    }
  });

  test('the settings of a submodule and of a repository in a repository', async () => {
    const { runtime, repository, marker, trap } = await trapped();
    const inner = new Repository(join(repository.path, 'sub'));
    inner.write('file', '1');
    inner.write('.gitattributes', '* filter=a=b diff=shown\n');
    inner.commit('inner');
    repository.git('-c', 'advice.addEmbeddedRepo=false', 'add', 'sub');
    repository.write(
      '.gitmodules',
      `[submodule "sub"]\n\tpath = sub\n\turl = ext::sh -c ${trap}\n\tfetchRecurseSubmodules = true\n`,
    );
    repository.commit('with a submodule');
    configure(inner, trap);
    inner.write('file', '2');
    appendFileSync(
      join(repository.path, '.git/config'),
      '[diff]\n\tsubmodule = diff\n\tignoreSubmodules = none\n[status]\n\tsubmoduleSummary = true\n[submodule]\n\trecurse = true\n',
    );
    await lookAround(runtime.git.at('repository'), 'file');
    await lookAround(runtime.git.at('repository/sub'), 'file');
    // Git itself refuses to go on with a program in this file.
    repository.write('.gitmodules', `[submodule "sub"]\n\tpath = sub\n\tupdate = !${trap}\n`);
    await expect(runtime.git.at('repository').diff()).rejects.toMatchObject({ code: 'git-failed' });
    expect(existsSync(marker)).toBe(false);
    repository.remove('.gitmodules');
    await runtime.run('cd repository && git status < /dev/null > /dev/null');
    expect(existsSync(marker)).toBe(true);
  });

  test('a directory in the tree that poses as a repository', async () => {
    const { runtime, repository, marker, trap } = await trapped();
    const bare = new Repository(join(repository.path, 'pose'));
    bare.write('file', 'x');
    bare.commit('inside');
    configure(bare, trap);
    for (const name of ['HEAD', 'config', 'objects', 'refs', 'index', 'hooks'])
      repository.git('mv', '-k', `pose/.git/${name}`, `pose/${name}`);
    await runtime.run(
      'cd repository/pose && mv .git/* . && rmdir .git && git config core.bare false && git config core.worktree .',
    );
    rmSync(marker, { force: true });
    const git = runtime.git.at('repository/pose');
    await git.status().catch(() => {});
    await git.changes().catch(() => {});
    await git.diff().catch(() => {});
    await runtime.git.at('repository').status();
    expect(existsSync(marker)).toBe(false);
  });

  test('names of files that look like options or patterns', async () => {
    const { runtime, repository } = await trapped();
    for (const name of ['--output=stolen', '-p', ':(exclude)file', '*'])
      repository.write(`names/${name}`, 'x\n');
    repository.commit('names');
    for (const name of ['--output=stolen', '-p', ':(exclude)file', '*'])
      repository.write(`names/${name}`, 'y\n');
    const git = runtime.git.at('repository/names');
    for (const name of ['--output=stolen', '-p', ':(exclude)file', '*']) {
      expect((await git.diff({ base: 'HEAD', paths: [name] })).files.map(({ path }) => path)).toEqual([name]);
      expect(await git.blame(name)).toMatchObject([{ text: 'y' }]);
      expect(await git.fileDiff(name, { base: 'HEAD' })).toEqual({ original: 'x\n', modified: 'y\n' });
    }
    await git.commit('one of them', { paths: ['*'] });
    expect(await git.commitChanges('HEAD')).toEqual([{ status: 'modified', path: '*' }]);
    expect(await runtime.files.exists('repository/names/stolen')).toBe(false);
  });
});

describe('a git that prints what it likes', () => {
  /** `program` stands in for `git status`. */
  async function deceived(program: string): Promise<RuntimeGit> {
    const programs = makeDirectory();
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    const path = join(programs, 'git');
    writeFileSync(
      path,
      `#!/bin/sh\nfor word; do case $word in status) ${program} ;; esac; done\nexec '${real}' "$@"\n`,
      { mode: 0o755 },
    );
    const { directory, runtime } = await given('cli', { env: { PATH: `${programs}:${process.env.PATH}` } });
    new Repository(join(directory, 'repository'));
    return runtime.git.at('repository');
  }

  test('many entries are read in turns, and too many are an error', async () => {
    const many = (count: number) => deceived(`exec perl -e 'print "? $_\\0" for 1..${count}'`);
    let turns = 0;
    const counting = setInterval(() => turns++, 1);
    const { files } = await (await many(200_000)).status();
    clearInterval(counting);
    expect(files).toHaveLength(200_000);
    expect(files.at(-1)).toMatchObject({ path: '200000', unstaged: 'untracked' });
    expect(turns).toBeGreaterThan(5);
    await expect((await many(200_001)).status()).rejects.toMatchObject({ code: 'file-too-large' });
  });

  test('of a long complaint the error has the beginning', async () => {
    const git = await deceived(`yes complaint | head -c 15000000 >&2; exit 1`);
    await expect(git.status()).rejects.toMatchObject({
      code: 'git-failed',
      message: expect.stringMatching(/^git status failed: (complaint\n){100,250}/),
    });
  });

  test('names of filters that do not fit make looking an error', async () => {
    const { directory, runtime } = await given('cli');
    const repository = new Repository(join(directory, 'repository'));
    const filters = Array.from(
      { length: 4000 },
      (_, index) => `[filter "${'f'.repeat(100)}${index}"]\n\tclean = x\n`,
    );
    appendFileSync(join(repository.path, '.git/config'), filters.join(''));
    await expect(runtime.git.at('repository').status()).rejects.toMatchObject({ code: 'file-too-large' });
  });
});
