import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RemoteWorkspace } from '@openhands/typescript-client/workspace/remote-workspace';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startServer, type TestServer } from './server.js';

let server: TestServer;
let workspace: RemoteWorkspace;
let repository: string;
let count = 0;

beforeAll(async () => {
  server = await startServer();
  workspace = new RemoteWorkspace({ ...server, workingDir: server.workspace });
});
afterAll(() => server[Symbol.asyncDispose]());

beforeEach(() => {
  repository = join(server.workspace, `repository-${count++}`);
  makeRepository(repository);
});

describe('changes', () => {
  test('name what was added, updated and deleted, whatever the names look like', async () => {
    write('to update', '1');
    write('to delete', '1');
    write('to/move', 'moved content');
    commit('first');
    write('to update', '2');
    rmSync(join(repository, 'to delete'));
    renameSync(join(repository, 'to/move'), join(repository, 'moved'));
    git('add', '-A');
    write('new\nline\tand späße', 'x');
    write('-dash', 'x');
    write('.gitignore', 'ignored');
    write('ignored', 'x');
    expect(await workspace.gitChanges(repository)).toEqual([
      { status: 'ADDED', path: '-dash' },
      { status: 'ADDED', path: '.gitignore' },
      { status: 'ADDED', path: 'moved' },
      { status: 'ADDED', path: 'new\nline\tand späße' },
      { status: 'DELETED', path: 'to delete' },
      { status: 'UPDATED', path: 'to update' },
      { status: 'DELETED', path: 'to/move' },
    ]);
  });

  test('are counted from the fork of the default branch, or from a ref', async () => {
    write('base', '1');
    commit('base');
    git('checkout', '-q', '-b', 'feature');
    write('committed', '1');
    commit('work');
    write('uncommitted', '1');
    expect(await paths()).toEqual(['committed', 'uncommitted']);
    expect(await paths({ ref: 'HEAD' })).toEqual(['uncommitted']);
    expect(await paths({ ref: 'main' })).toEqual(['committed', 'uncommitted']);
  });

  test('of a repository without a commit are all its files', async () => {
    write('first', '1');
    git('add', 'first');
    write('second', '1');
    expect(await workspace.gitChanges(repository)).toEqual([
      { status: 'ADDED', path: 'first' },
      { status: 'ADDED', path: 'second' },
    ]);
  });

  test('of a repository inside another are told beneath its name', async () => {
    write('outer', '1');
    makeRepository(join(repository, 'inner one'));
    write('inner one/file', '1');
    expect(await paths()).toEqual(['inner one/file', 'outer']);
  });

  test('are none where there is no repository, or nothing at all', async () => {
    const plain = join(server.workspace, 'plain');
    mkdirSync(plain, { recursive: true });
    expect(await workspace.gitChanges(plain)).toEqual([]);
    expect(await workspace.gitChanges(`${server.workspace}/missing`)).toEqual([]);
  });

  test('refuse refs that are none, options among them', async () => {
    write('file', '1');
    commit('first');
    for (const ref of ['missing', '--output=stolen', '-p', 'a b', '..', '\u0001']) {
      const query = new URLSearchParams({ path: repository, ref });
      expect([ref, (await server.fetch(`/api/git/changes?${query}`)).status]).toEqual([ref, 400]);
    }
    expect(existsSync(join(repository, 'stolen'))).toBe(false);
  });
});

describe('diff', () => {
  test('gives both whole files', async () => {
    write('a file', 'old\n');
    commit('first');
    write('a file', 'new ä\n');
    expect(await workspace.gitDiff(join(repository, 'a file'))).toEqual({
      original: 'old\n',
      modified: 'new ä\n',
    });
  });

  test('has null for what is not there', async () => {
    write('gone/with/directory', 'old');
    commit('first');
    rmSync(join(repository, 'gone'), { recursive: true });
    write('new', 'new');
    expect(await workspace.gitDiff(join(repository, 'gone/with/directory'))).toEqual({
      original: 'old',
      modified: null,
    });
    expect(await workspace.gitDiff(join(repository, 'new'))).toEqual({ original: null, modified: 'new' });
    expect(await workspace.gitDiff(join(server.workspace, 'nowhere'))).toEqual({
      original: null,
      modified: null,
    });
  });

  test('compares with a ref, or shows what a commit did', async () => {
    write('file', '1');
    commit('first');
    write('file', '2');
    commit('second');
    write('file', '3');
    const file = join(repository, 'file');
    expect(await workspace.gitDiff(file, { ref: 'HEAD~1' })).toEqual({ original: '1', modified: '3' });
    expect(await json(`/api/git/diff?${new URLSearchParams({ path: file, commit: 'HEAD' })}`)).toEqual({
      original: '1',
      modified: '2',
    });
    expect(await json(`/api/git/diff?${new URLSearchParams({ path: file, commit: 'HEAD~1' })}`)).toEqual({
      original: null,
      modified: '1',
    });
    const both = new URLSearchParams({ path: file, commit: 'HEAD', ref: 'HEAD' });
    expect((await server.fetch(`/api/git/diff?${both}`)).status).toBe(400);
  });

  test('refuses a file that is too large', async () => {
    write('large', 'x'.repeat(1024 * 1024 + 1));
    const query = new URLSearchParams({ path: join(repository, 'large') });
    expect((await server.fetch(`/api/git/diff?${query}`)).status).toBe(400);
  });
});

describe('commits', () => {
  test('are listed, newest first, with a word on whether there are more', async () => {
    for (const name of ['one', 'two', 'three']) {
      write(name, name);
      commit(`subject of ${name}\n\nbody`);
    }
    const query = new URLSearchParams({ path: repository, limit: '2' });
    expect(await json(`/api/git/commits?${query}`)).toEqual({
      commits: ['three', 'two'].map((name) => ({
        sha: expect.stringMatching(/^[0-9a-f]{40}$/),
        short_sha: expect.stringMatching(/^[0-9a-f]{4,}$/),
        subject: `subject of ${name}`,
        author: 'A U Thor',
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      })),
      has_more: true,
    });
  });

  test('tell what they changed, the first one too', async () => {
    write('one', '1');
    commit('first');
    const first = git('rev-parse', 'HEAD').trim();
    write('one', '2');
    write('two', '2');
    commit('second');
    const second = git('rev-parse', 'HEAD').trim();
    const changes = (sha: string) => json(`/api/git/commits/${sha}/changes?path=${repository}`);
    expect(await changes(first)).toEqual([{ status: 'ADDED', path: 'one' }]);
    expect(await changes(second.slice(0, 12))).toEqual([
      { status: 'UPDATED', path: 'one' },
      { status: 'ADDED', path: 'two' },
    ]);
    expect((await server.fetch(`/api/git/commits/HEAD/changes?path=${repository}`)).status).toBe(422);
    expect((await server.fetch(`/api/git/commits/ffffffff/changes?path=${repository}`)).status).toBe(400);
  });

  test('are none where there are none', async () => {
    expect(await json(`/api/git/commits?path=${repository}`)).toEqual({ commits: [], has_more: false });
  });
});

test('no program that the settings of a repository name is started', async () => {
  write('file', '1');
  write('.gitattributes', '* diff=evil\n');
  commit('first');
  const marker = join(repository, 'marker');
  const program = join(repository, 'evil');
  writeFileSync(program, `#!/bin/sh\necho "$0 $@" >> '${marker}'\ncat\n`);
  chmodSync(program, 0o755);
  const settings = {
    'core.fsmonitor': program,
    'core.hooksPath': repository,
    'core.pager': program,
    'pager.diff': program,
    'pager.log': program,
    'diff.external': program,
    'diff.evil.command': program,
    'diff.evil.textconv': program,
    'gpg.program': program,
    'log.showSignature': 'true',
  };
  for (const [name, value] of Object.entries(settings)) git('config', name, value);
  for (const hook of ['post-index-change', 'reference-transaction'])
    writeFileSync(join(repository, hook), `#!/bin/sh\necho hook >> '${marker}'\n`, { mode: 0o755 });
  write('file', '2');
  expect(await paths()).toContain('file');
  await workspace.gitDiff(join(repository, 'file'));
  await json(`/api/git/commits?path=${repository}`);
  await json(`/api/git/commits/${git('rev-parse', 'HEAD').trim()}/changes?path=${repository}`);
  expect(existsSync(marker)).toBe(false);
});

function makeRepository(path: string): void {
  mkdirSync(path, { recursive: true });
  execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: path, env: environment });
}

const environment = {
  PATH: process.env.PATH,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'A U Thor',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'A U Thor',
  GIT_COMMITTER_EMAIL: 'a@example.org',
};

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: repository, env: environment, encoding: 'utf8' });
}

function write(path: string, content: string): void {
  mkdirSync(dirname(join(repository, path)), { recursive: true });
  writeFileSync(join(repository, path), content);
}

function commit(message: string): void {
  git('add', '-A');
  git('commit', '-q', '-m', message);
}

async function paths(options: { ref?: string } = {}): Promise<string[]> {
  return (await workspace.gitChanges(repository, options)).map(({ path }) => path);
}

async function json(path: string): Promise<unknown> {
  const response = await server.fetch(path);
  expect(response.status).toBe(200);
  return response.json();
}
