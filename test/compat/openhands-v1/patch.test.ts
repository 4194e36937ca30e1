/** The work in a repository as a patch, which `git apply` brings to another clone. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startServer, type TestServer } from './server.js';

let server: TestServer;
let base: string;
let count = 0;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const at = (name: string) => join(base, name);
function write(name: string, content: string | Buffer): void {
  mkdirSync(dirname(at(name)), { recursive: true });
  writeFileSync(at(name), content);
}
function git(place: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.org'];
  return execFileSync('git', [...identity, ...args], { cwd: at(place), encoding: 'utf8' }).trim();
}
function commit(place: string, message: string): void {
  git(place, 'add', '-A');
  git(place, 'commit', '-q', '-m', message);
}
const archive = (place: string, query = '') =>
  server.fetch(`/api/file/archive?path=${encodeURIComponent(at(place))}${query}`);

/** A remote with one commit, and a clone of it in which somebody worked. */
beforeEach(() => {
  base = join(server.workspace, `case-${count++}`);
  mkdirSync(at('origin'), { recursive: true });
  git('origin', 'init', '-q', '-b', 'main');
  write('origin/kept', 'one\n');
  write('origin/gone', 'x\n');
  commit('origin', 'first');
  git('.', 'clone', '-q', 'origin', 'clone');
});

test('brings all changes to a fresh clone, whatever their bytes, and touches nothing', async () => {
  write('clone/kept', Buffer.from('latin caf\xe9\n', 'latin1'));
  write('clone/made/new', 'new\n');
  write('clone/bytes', Buffer.from([0, 1, 2, 255, 254]));
  write('clone/.gitignore', 'ignored\n');
  write('clone/ignored', 'x');
  write('clone/node_modules/heavy', 'x');
  rmSync(at('clone/gone'));
  const before = [git('clone', 'status', '--porcelain'), git('clone', 'count-objects')];
  const answer = await archive('clone');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/x-patch');
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="clone.patch"');
  writeFileSync(at('patch'), Buffer.from(await answer.arrayBuffer()));
  git('.', 'clone', '-q', 'origin', 'fresh');
  git('fresh', 'apply', at('patch'));
  for (const name of ['kept', 'made/new', 'bytes', '.gitignore'])
    expect(readFileSync(at(`fresh/${name}`))).toEqual(readFileSync(at(`clone/${name}`)));
  for (const name of ['gone', 'ignored', 'node_modules']) expect(existsSync(at(`fresh/${name}`))).toBe(false);
  expect([git('clone', 'status', '--porcelain'), git('clone', 'count-objects')]).toEqual(before);
});

test('says what it is a patch of', async () => {
  git('clone', 'remote', 'set-url', 'origin', 'https://me:secret@example.org/some/project?token=x');
  const head = git('clone', 'rev-parse', 'HEAD');
  // The directory above is no repository, and has two of them in it until one goes.
  expect((await archive('.')).status).toBe(400);
  rmSync(at('origin'), { recursive: true });
  const { headers } = await archive('.');
  const told = [...headers].filter(([name]) => name.startsWith('x-archive-'));
  expect(Object.fromEntries(told.map(([name, value]) => [name, decodeURIComponent(value)]))).toEqual({
    'x-archive-repo-remote': 'https://example.org/some/project',
    'x-archive-branch': 'main',
    'x-archive-head-commit': head,
    'x-archive-repo-root': at('clone'),
    'x-archive-base-commit': head,
    'x-archive-base-ref': 'auto',
  });
});

test('begins where a fresh clone is: at the pushed branch, at the fork, at a detached commit, at nothing', async () => {
  const first = git('clone', 'rev-parse', 'HEAD');
  const baseOf = async (place: string, query = '') => {
    const answer = await archive(place, query);
    return [answer.status, answer.headers.get('x-archive-base-commit')];
  };
  git('clone', 'checkout', '-q', '-b', 'feature');
  write('clone/more', 'x');
  commit('clone', 'work');
  expect(await baseOf('clone')).toEqual([200, first]);
  expect(await baseOf('clone', '&base_ref=HEAD')).toEqual([200, git('clone', 'rev-parse', 'HEAD')]);
  git('clone', 'push', '-q', 'origin', 'feature');
  expect(await baseOf('clone')).toEqual([200, git('clone', 'rev-parse', 'HEAD')]);
  git('clone', 'checkout', '-q', '--detach', first);
  expect(await baseOf('clone')).toEqual([200, first]);
  expect(await baseOf('origin')).toEqual([200, null]);
  expect(await (await archive('origin')).text()).toContain('new file mode 100644');
  for (const ref of ['nothing', '--output=x'])
    expect(await baseOf('clone', `&base_ref=${ref}`)).toEqual([400, null]);
  mkdirSync(at('empty'));
  git('empty', 'init', '-q');
  expect(await baseOf('empty')).toEqual([200, null]);
  expect(await baseOf('empty', '&base_ref=HEAD')).toEqual([200, null]);
  expect(readdirSync(at('empty'))).toEqual(['.git']);
});

test('leaves out what it is told to, whether git follows it or not', async () => {
  write('clone/kept', 'changed\n');
  write('clone/logs/today', 'x\n');
  write('clone/build', 'a file, not a directory\n');
  const patch = await (await archive('clone', '&exclude=kept&exclude=logs')).text();
  expect([...patch.matchAll(/^diff --git a\/(\S+)/gm)].map(([, name]) => name)).toEqual(['build']);
});

test('odd patterns leave nothing out, or are refused, and reach no other files', async () => {
  write('clone/kept', 'changed\n');
  const statuses = ['\0', ':(top)*', '../../*', '/etc', '{', '[', '**', '*'].map(
    async (pattern) => (await archive('clone', `&exclude=${encodeURIComponent(pattern)}`)).status,
  );
  expect(await Promise.all(statuses)).toEqual([422, 200, 400, 400, 200, 200, 200, 200]);
});
