/** Exchange with a server that demands a token. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Runtime } from '../../../src/index.js';
import { given, type Place, places, Repository, trustedPlaces } from './repository.js';
import { startGitServer } from './server.js';

const token = 'tok-9f8e7d6c5b4a';

const online = (place: Place, host: string, more: Record<string, unknown> = {}) =>
  given(place, {
    ...(place.startsWith('sandbox') ? { network: 'host' } : {}),
    secrets: { GIT_TOKEN: { value: token, hosts: [host] }, HIDDEN_TOKEN: { value: `${token}-2` } },
    ...more,
  });

describe.each(trustedPlaces)('%s', (place) => {
  test('clones, commits, pushes and pulls, and the token is nowhere', async () => {
    const server = await startGitServer(token);
    const { directory, runtime } = await online(place, server.host);
    const git = await runtime.git.prepare({ repository: server.url, token: 'GIT_TOKEN' });
    expect(git.path).toBe(`${runtime.workspace}/project`);
    const branch = (await git.branch()) ?? '';
    expect(branch).toMatch(/^workcell-/);
    expect((await runtime.read('project/README.md')).content).toBe('hello\n');
    await runtime.write('project/README.md', 'hello again\n');
    const { id } = await git.commit('changed');
    await git.push({ token: 'GIT_TOKEN' });
    expect(bare(server.directory, 'rev-parse', branch)).toBe(id);
    expect((await git.status()).upstream).toEqual({ name: `origin/${branch}`, ahead: 0, behind: 0 });
    const other = await runtime.git.clone(server.url, {
      into: 'other',
      branch,
      depth: 1,
      token: 'GIT_TOKEN',
    });
    expect(await other.log()).toHaveLength(1);
    await runtime.write('other/new', 'x');
    const next = await other.commit('more');
    await other.push({ token: 'GIT_TOKEN' });
    await git.pull({ token: 'GIT_TOKEN' });
    expect((await git.log({ limit: 1 }))[0]?.id).toBe(next.id);
    expect(new Set(server.seen)).toEqual(new Set([undefined, `x-access-token:${token}`]));
    expect(await eventsOf(runtime)).not.toContain(token);
    expect(filesBelow(directory).filter((path) => readFileSync(path).includes(token))).toEqual([]);
  });
});

describe.each(places)('%s', (place) => {
  test('a tag is cloned with a detached head; a wrong token, or none, is an error that names the server', async () => {
    const server = await startGitServer(token);
    const { runtime } = await online(place, server.host);
    const git = await runtime.git.clone(server.url, { branch: 'v1', token: 'GIT_TOKEN' });
    expect(await git.branch()).toBeNull();
    await expect(runtime.git.clone(server.url, { into: 'no-token' })).rejects.toMatchObject({
      code: 'git-failed',
      message: expect.stringContaining(server.host),
    });
    await expect(
      runtime.git.clone(server.url, { branch: 'missing', into: 'x', token: 'GIT_TOKEN' }),
    ).rejects.toMatchObject({ code: 'git-failed', message: expect.stringContaining('missing') });
    await expect(
      runtime.git.clone(`${server.url.replace('project', 'absent')}`, { into: 'x', token: 'GIT_TOKEN' }),
    ).rejects.toMatchObject({ code: 'git-failed' });
    expect((await runtime.files.list('.')).map(({ name }) => name)).toEqual(['project']);
  });

  test('a secret goes only to the servers it names, not after a redirect and not in clear text', async () => {
    const server = await startGitServer(token);
    const other = await startGitServer(token);
    const { runtime } = await online(place, server.host);
    const denied = { code: 'denied' };
    await expect(runtime.git.clone(other.url, { token: 'GIT_TOKEN' })).rejects.toMatchObject(denied);
    await expect(runtime.git.clone(server.url, { token: 'HIDDEN_TOKEN' })).rejects.toMatchObject(denied);
    await expect(runtime.git.clone(server.url, { token: 'ABSENT' })).rejects.toMatchObject(denied);
    await expect(runtime.git.clone('http://example.org/x.git', { token: 'GIT_TOKEN' })).rejects.toMatchObject(
      denied,
    );
    await expect(runtime.git.clone(server.url.replace('//', `//user:${token}@`))).rejects.toMatchObject({
      code: 'invalid-action',
      message: expect.not.stringContaining(token),
    });
    server.redirectTo(`http://${other.host}`);
    await expect(runtime.git.clone(server.url, { token: 'GIT_TOKEN' })).rejects.toMatchObject({
      code: 'git-failed',
    });
    expect(new Set(other.seen)).toEqual(new Set([undefined]));
    const without = await given(place);
    await expect(without.runtime.git.clone(server.url, { token: 'GIT_TOKEN' })).rejects.toMatchObject(denied);
  });

  test('no hook, helper or setting of a repository gets the token', async () => {
    const server = await startGitServer(token);
    const other = await startGitServer(token);
    const { directory, runtime } = await online(place, server.host);
    const git = await runtime.git.clone(server.url, { token: 'GIT_TOKEN' });
    const path = join(directory, 'project');
    const evil = `${git.path}/evil`;
    await runtime.write(
      'project/evil',
      '#!/bin/sh\n(echo "$0 $*"; cat <&3; env) >> "$(dirname "$0")/stolen" 2>&1\n',
      {
        mode: 0o755,
      },
    );
    const set = (name: string, value: string) =>
      execFileSync('git', ['-C', path, 'config', '--add', name, value], { env: { PATH: process.env.PATH } });
    set('credential.helper', evil);
    set(`credential.http://${server.host}.helper`, `!${evil}`);
    set('core.askPass', evil);
    set('core.fsmonitor', evil);
    set('core.hooksPath', git.path);
    for (const hook of ['pre-push', 'post-checkout', 'post-merge', 'reference-transaction'])
      await runtime.files.copy('project/evil', `project/${hook}`);
    await git.commit('work', { hooks: false });
    await runtime.files.remove('project/stolen', { force: true });
    await git.push({ token: 'GIT_TOKEN' });
    await git.fetch({ token: 'GIT_TOKEN' });
    expect(await runtime.files.exists('project/stolen')).toBe(false);
    set(`url.http://${other.host}/.insteadOf`, `http://${server.host}/`);
    await expect(git.fetch({ token: 'GIT_TOKEN' })).rejects.toMatchObject({ code: 'denied' });
    execFileSync('git', ['-C', path, 'config', '--remove-section', `url.http://${other.host}/`]);
    set('http.proxy', `http://${other.host}`);
    await expect(git.fetch({ token: 'GIT_TOKEN' })).rejects.toMatchObject({ code: 'denied' });
    expect(other.seen).toEqual([]);
  });

  test('local paths are cloned without any network, shallow if wanted', async () => {
    const { directory, runtime } = await given(place);
    const source = new Repository(join(directory, 'a source.git'));
    source.write('file', '1');
    source.commit('first');
    source.commit('second');
    const git = await runtime.git.clone('./a source.git', { into: 'shallow', depth: 1 });
    expect(await git.log()).toHaveLength(1);
    expect((await runtime.git.clone(`${runtime.workspace}/a source.git`, { into: 'full' })).path).toBe(
      `${runtime.workspace}/full`,
    );
    await expect(runtime.git.clone('a source.git', { into: 'full' })).rejects.toMatchObject({
      code: 'git-failed',
    });
  });

  test.each([
    '--upload-pack=touch stolen',
    '-u touch',
    'ext::sh -c "touch stolen"',
    'fd::3',
    'git://example.org/x',
    'javascript://x',
    'a\nb',
    '',
  ])('%j is no address', async (url) => {
    const { runtime } = await given(place);
    await expect(runtime.git.clone(url, { into: 'x' })).rejects.toMatchObject({ code: 'invalid-action' });
    expect(await runtime.files.list('.')).toEqual([]);
  });
});

function bare(directory: string, ...args: string[]): string {
  return execFileSync('git', ['-C', directory, ...args], { encoding: 'utf8' }).trim();
}

async function eventsOf(runtime: Runtime): Promise<string> {
  await runtime.close();
  const events: unknown[] = [];
  for await (const event of runtime.events) events.push(event);
  return JSON.stringify(events);
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile());
}
