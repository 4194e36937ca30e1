/** Presets follow the settings of the tools on this machine, not those of a project. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { presetRules } from '../../../src/runtime/network/presets.js';

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

test('git means the hosts of the remotes of the workspace, on the ports of their protocols', async () => {
  const config = [
    '[remote "origin"]\n\turl = https://git.corp.test/a.git\n\tpushurl = git@ssh.corp.test:a.git',
    '[remote "other"]\n\turl = ssh://git@other.corp.test:2222/a.git',
    '[remote "file"]\n\turl = /srv/a.git\n[remote "number"]\n\turl = http://127.0.0.1/a.git\n',
  ].join('\n');
  const workspace = makeDirectory({ '.git/config': config });
  expect(await presetRules(['git'], workspace)).toEqual([
    'git.corp.test:443',
    'ssh.corp.test:22',
    'other.corp.test:2222',
  ]);
  await expect(presetRules(['git'], makeDirectory({}))).rejects.toMatchObject({ code: 'invalid-config' });
});
