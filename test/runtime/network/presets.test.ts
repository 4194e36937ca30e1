/** Presets follow the settings of the tools on this machine, not those of a project. */
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { openWorkspace } from '../../../src/backends/workspace.js';
import { presetRequests, presetRules } from '../../../src/runtime/network/presets.js';

afterEach(() => vi.unstubAllEnvs());

function makeDirectory(files: Readonly<Record<string, string>>): string {
  const path = mkdtempSync(join(tmpdir(), 'presets-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(path, name, '..'), { recursive: true });
    writeFileSync(join(path, name), content);
  }
  return path;
}

test('npm and pip mean the registries that the user has set up', async () => {
  const home = makeDirectory({
    '.npmrc':
      'registry=https://npm.corp.test:8443/\n@own:registry=http://scope.corp.test/\nhttps-proxy=http://proxy.test:1\n',
    '.config/pip/pip.conf':
      '[global]\nindex-url = https://pip.corp.test/simple\nproxy = http://proxy.test:1\n',
  });
  vi.stubEnv('HOME', home);
  const project = makeDirectory({ '.npmrc': 'registry=https://evil.test/\n' });
  expect(await presetRules(['npm'], project)).toEqual(
    expect.arrayContaining(['npm.corp.test:8443', 'scope.corp.test:80']),
  );
  const rules = await presetRules(['npm', 'pip'], project);
  expect(rules).toContain('pip.corp.test:443');
  expect(rules.join()).not.toMatch(/evil|proxy/);
});

test('cargo and maven mean the registries in the settings of the user', async () => {
  const home = makeDirectory({
    '.cargo/config.toml': [
      '[source.crates-io]\nreplace-with = "mirror"',
      '[source.mirror]\nregistry = "sparse+https://crates.corp.test/index/"',
      '[registries.own]\nindex = "https://own.corp.test:8443/git/index"\n# index = "https://old.corp.test"',
      '[http]\nproxy = "http://proxy.test:1"\n',
    ].join('\n'),
    '.m2/settings.xml':
      '<settings><mirrors><mirror><mirrorOf>*</mirrorOf><url>https://maven.corp.test/all</url></mirror></mirrors><!-- <url>https://old.corp.test</url> --></settings>',
  });
  vi.stubEnv('HOME', home);
  vi.stubEnv('CARGO_HOME', undefined);
  expect(await presetRules(['cargo', 'maven'], home)).toEqual([
    'crates.corp.test:443',
    'own.corp.test:8443',
    'maven.corp.test:443',
  ]);
});

test('a tool that is here and not set up means its own default, and one that is missing nothing', async () => {
  const home = makeDirectory({
    '.cargo/config.toml':
      '# [source.crates-io]\n# replace-with = "mirror"\n[registries.own]\nindex = "https://own.corp.test/"\n',
    '.m2/settings.xml': '<settings><mirrors><mirror><mirrorOf>other</mirrorOf></mirror></mirrors></settings>',
    'bin/cargo': '#!/bin/sh\n',
  });
  chmodSync(join(home, 'bin/cargo'), 0o755);
  vi.stubEnv('HOME', home);
  vi.stubEnv('CARGO_HOME', undefined);
  vi.stubEnv('PATH', `${join(home, 'bin')}:${process.env.PATH}`);
  expect(await presetRules(['cargo'], home)).toEqual([
    'index.crates.io:443',
    'static.crates.io:443',
    'own.corp.test:443',
  ]);
  expect(await presetRules(['maven'], home)).toEqual(['repo.maven.apache.org:443']);
  vi.stubEnv('HOME', makeDirectory({}));
  vi.stubEnv('PATH', makeDirectory({}));
  await expect(presetRules(['cargo'], home)).rejects.toMatchObject({ code: 'invalid-config' });
});

test('variables of the caller count, and those that npm sets for a project do not', async () => {
  vi.stubEnv('HOME', makeDirectory({}));
  vi.stubEnv('npm_config_registry', 'https://npm.corp.test/');
  vi.stubEnv('PIP_INDEX_URL', 'https://pip.corp.test/simple');
  vi.stubEnv('CARGO_REGISTRIES_OWN_INDEX', 'sparse+https://crates.corp.test/');
  for (const name of ['npm_command', 'npm_lifecycle_event']) vi.stubEnv(name, undefined);
  const rules = await presetRules(['npm', 'pip', 'cargo'], '/');
  expect(rules).toEqual(
    expect.arrayContaining(['npm.corp.test:443', 'pip.corp.test:443', 'crates.corp.test:443']),
  );
  vi.stubEnv('npm_command', 'run-script');
  expect(await presetRules(['npm'], '/')).not.toContain('npm.corp.test:443');
});

test('go means its proxies and its checksum database', async () => {
  const home = makeDirectory({
    '.config/go/env': 'GOPROXY=https://go.corp.test|https://other.corp.test:8443,direct\n',
  });
  vi.stubEnv('HOME', home);
  for (const name of ['GOPROXY', 'GOENV', 'XDG_CONFIG_HOME']) vi.stubEnv(name, undefined);
  vi.stubEnv('GOSUMDB', 'sum.corp.test');
  expect(await presetRules(['go'], '/')).toEqual([
    'go.corp.test:443',
    'other.corp.test:8443',
    'sum.corp.test:443',
  ]);
  vi.stubEnv('GOPROXY', 'https://mine.corp.test');
  expect(await presetRules(['go'], '/')).toEqual(['mine.corp.test:443', 'sum.corp.test:443']);
});

test('apt means its sources, in both of their forms', async () => {
  const place = makeDirectory({
    'sources.list':
      'deb https://deb.corp.test/debian stable main\n# deb https://old.corp.test/ stable main\n',
    'parts/own.sources': 'Types: deb\nURIs: http://own.corp.test:8080/debian\nSuites: stable\n',
    'parts/ignored.bak': 'deb https://evil.test/ stable main\n',
  });
  writeFileSync(
    join(place, 'apt.conf'),
    `Dir::Etc::sourcelist "${place}/sources.list"; Dir::Etc::sourceparts "${place}/parts/";`,
  );
  vi.stubEnv('APT_CONFIG', join(place, 'apt.conf'));
  expect(await presetRules(['apt'], '/')).toEqual(['deb.corp.test:443', 'own.corp.test:8080']);
});

test('git means the hosts of the remotes of the workspace, on the ports of their protocols', async () => {
  const config = [
    '[remote "origin"]\n\turl = https://git.corp.test/a.git\n\tpushurl = git@ssh.corp.test:a.git',
    '[remote "other"]\n\turl = ssh://git@other.corp.test:2222/a.git',
    '[remote "file"]\n\turl = /srv/a.git\n[remote "number"]\n\turl = http://127.0.0.1/a.git\n',
  ].join('\n');
  vi.stubEnv('XDG_STATE_HOME', makeDirectory({}));
  const workspace = makeDirectory({ '.git/config': config });
  expect(await presetRules(['git'], workspace)).toEqual([
    'git.corp.test:443',
    'ssh.corp.test:22',
    'other.corp.test:2222',
  ]);
  expect(await presetRules(['git-read'], workspace)).toEqual([]);
  expect((await presetRequests(['git-read'], workspace)).map(({ host }) => host)).toEqual([
    'git.corp.test:443',
    'git.corp.test:443',
  ]);
  expect(await presetRequests(['git'], workspace)).toEqual([]);
  await expect(presetRules(['git'], makeDirectory({}))).rejects.toMatchObject({ code: 'invalid-config' });
});

test('git means the remotes from before the first cell, whatever a cell writes later', async () => {
  vi.stubEnv('XDG_STATE_HOME', makeDirectory({}));
  const remote = (host: string) => `[remote "${host}"]\n\turl = https://${host}/a.git\n`;
  const workspace = makeDirectory({ '.git/config': remote('git.corp.test') });
  const empty = makeDirectory({});
  for (const path of [workspace, empty]) openWorkspace(path);
  appendFileSync(join(workspace, '.git/config'), remote('evil.test'));
  mkdirSync(join(empty, '.git'));
  writeFileSync(join(empty, '.git/config'), remote('evil.test'));
  expect(await presetRules(['git'], workspace)).toEqual(['git.corp.test:443']);
  await expect(presetRules(['git'], empty)).rejects.toMatchObject({ code: 'invalid-config' });
  // Another directory under the same name is another workspace.
  mkdirSync(`${empty}-next/.git`, { recursive: true });
  writeFileSync(join(`${empty}-next`, '.git/config'), remote('next.corp.test'));
  rmSync(empty, { recursive: true });
  renameSync(`${empty}-next`, empty);
  expect(await presetRules(['git'], empty)).toEqual(['next.corp.test:443']);
});
