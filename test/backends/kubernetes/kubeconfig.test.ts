import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { stringify } from 'yaml';
import { findCluster, knowsCluster } from '../../../src/backends/kubernetes/kubeconfig.js';

const directory = mkdtempSync(join(tmpdir(), 'workcell-kubeconfig-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
afterEach(() => vi.unstubAllEnvs());

const base64 = (text: string) => Buffer.from(text).toString('base64');

function write(name: string, user: object, more: object = {}): string {
  const path = join(directory, name);
  const config = {
    'current-context': 'one',
    clusters: [
      {
        name: 'c',
        cluster: { server: 'https://cluster.test:6443', 'certificate-authority-data': base64('CA') },
      },
    ],
    users: [{ name: 'u', user }],
    contexts: [
      { name: 'one', context: { cluster: 'c', user: 'u', namespace: 'agents' } },
      { name: 'two', context: { cluster: 'c', user: 'u' } },
    ],
    ...more,
  };
  writeFileSync(path, stringify(config));
  return path;
}

test('a context names the cluster, the user and the namespace', async () => {
  const kubeconfig = write('certificate', {
    'client-certificate-data': base64('CERT'),
    'client-key-data': base64('KEY'),
  });
  const { server, namespace, credentials } = findCluster({ kubeconfig });
  expect([server.href, namespace]).toEqual(['https://cluster.test:6443/', 'agents']);
  expect(findCluster({ kubeconfig, context: 'two' }).namespace).toBeUndefined();
  const { headers, tls } = await credentials();
  expect(headers).toEqual({});
  expect({ ca: String(tls.ca), cert: String(tls.cert), key: String(tls.key) }).toEqual({
    ca: 'CA',
    cert: 'CERT',
    key: 'KEY',
  });
});

test('a token of a file is read again for each request, and seen from the kubeconfig', async () => {
  writeFileSync(join(directory, 'token'), 'first\n');
  const { credentials } = findCluster({
    kubeconfig: write('token-file', { tokenFile: 'token', as: 'somebody', 'as-groups': ['a', 'b'] }),
  });
  expect((await credentials()).headers).toEqual({
    authorization: 'Bearer first',
    'impersonate-user': 'somebody',
    'impersonate-group': ['a', 'b'],
  });
  writeFileSync(join(directory, 'token'), 'second\n');
  expect((await credentials()).headers).toMatchObject({ authorization: 'Bearer second' });
});

test('several files of KUBECONFIG are one, of which the first counts', () => {
  const first = join(directory, 'first');
  writeFileSync(first, stringify({ 'current-context': 'two' }));
  vi.stubEnv('KUBECONFIG', `${first}:${write('second', { token: 't' })}:/nowhere`);
  expect(findCluster({}).namespace).toBeUndefined();
});

test.each([
  [
    'a cluster behind a proxy',
    { clusters: [{ name: 'c', cluster: { server: 'https://x', 'proxy-url': 'http://p' } }] },
    /proxy-url/,
  ],
  ['no current context', { 'current-context': '' }, /no current context/],
  ['a cluster that is not there', { clusters: [] }, /no cluster "c"/],
  [
    'a server that is no address',
    { clusters: [{ name: 'c', cluster: { server: 'here' } }] },
    /not an address/,
  ],
])('%s is refused', (_what, more, reason) => {
  const kubeconfig = write('refused', {}, more);
  expect(() => findCluster({ kubeconfig })).toThrow(reason);
});

test('what is no kubeconfig is refused', () => {
  const kubeconfig = join(directory, 'broken');
  writeFileSync(kubeconfig, 'a: [');
  expect(() => findCluster({ kubeconfig })).toThrow(/cannot be read/);
  writeFileSync(kubeconfig, 'clusters: 3');
  expect(() => findCluster({ kubeconfig })).toThrow(/not valid/);
});

test('an auth-provider is refused', () => {
  const kubeconfig = write('provider', { 'auth-provider': { name: 'gcp' } });
  expect(() => findCluster({ kubeconfig })).toThrow(/exec plugin/);
});

/** Counts how often it ran, in the token that it gives. */
const program = `#!/bin/sh
printf x >> "$COUNT"
printf '{"status":{"token":"%s-%s","expirationTimestamp":"%s"}}' "$1" "$(wc -c < "$COUNT" | tr -d ' ')" "$UNTIL"
`;

beforeAll(() => {
  writeFileSync(join(directory, 'plugin'), program);
  chmodSync(join(directory, 'plugin'), 0o755);
});

test.each([
  ['until it ends', '2100-01-01T00:00:00Z', 'Bearer arg-1'],
  ['no longer than it says', '2000-01-01T00:00:00Z', 'Bearer arg-2'],
])('an exec plugin gives a token, which counts %s', async (_what, until, second) => {
  const env = [
    { name: 'COUNT', value: join(directory, `count-${until.slice(0, 4)}`) },
    { name: 'UNTIL', value: until },
  ];
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: './plugin', args: ['arg'], env };
  const { credentials } = findCluster({ kubeconfig: write('plugin-config', { exec }) });
  expect((await credentials()).headers).toEqual({ authorization: 'Bearer arg-1' });
  expect((await credentials()).headers).toEqual({ authorization: second });
});

test('an exec plugin that fails is told of with its hint', async () => {
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: '/nowhere/login',
    installHint: 'Get it.',
  };
  const { credentials } = findCluster({ kubeconfig: write('no-plugin', { exec }) });
  await expect(credentials()).rejects.toThrow(/\/nowhere\/login.*Get it\./s);
});

describe('what another user can write', () => {
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: './shared' };
  const share = (name: string, text = program) => {
    writeFileSync(join(directory, name), text);
    chmodSync(join(directory, name), 0o777);
  };

  test('is no kubeconfig', () => {
    const kubeconfig = write('shared-config', { token: 't' });
    chmodSync(kubeconfig, 0o666);
    expect(() => findCluster({ kubeconfig })).toThrow(
      expect.objectContaining({
        code: 'config-untrusted',
        message: expect.stringContaining('can be written by other users'),
      }),
    );
  });

  test('is no file with a token or a certificate', async () => {
    share('shared-token', 't');
    const { credentials } = findCluster({ kubeconfig: write('shares', { tokenFile: 'shared-token' }) });
    await expect(credentials()).rejects.toMatchObject({ code: 'config-untrusted' });
    const cluster = { server: 'https://x', 'certificate-authority': 'shared-token' };
    const kubeconfig = write('shares', {}, { clusters: [{ name: 'c', cluster }] });
    expect(() => findCluster({ kubeconfig })).toThrow(expect.objectContaining({ code: 'config-untrusted' }));
  });

  test('is no exec plugin, by its path or in PATH', async () => {
    share('shared');
    vi.stubEnv('PATH', `${directory}:${process.env.PATH}`);
    for (const command of ['./shared', 'shared']) {
      const kubeconfig = write('shares', { exec: { ...exec, command } });
      const { credentials } = findCluster({ kubeconfig });
      await expect(credentials()).rejects.toMatchObject({ code: 'config-untrusted' });
    }
  });
});

test('an exec plugin without a slash is the first program of that name in PATH', async () => {
  const [first, second, third] = ['1', '2', '3'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [first, second, third]) mkdirSync(path);
  mkdirSync(join(first, 'wc-plugin'));
  writeFileSync(join(second, 'wc-plugin'), 'no program', { mode: 0o644 });
  const script = '#!/bin/sh\necho \'{"status":{"token":"third"}}\'\n';
  writeFileSync(join(third, 'wc-plugin'), script, { mode: 0o755 });
  vi.stubEnv('PATH', `${first}:${second}:${third}:${process.env.PATH}`);
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'wc-plugin' };
  const { credentials } = findCluster({ kubeconfig: write('in-path', { exec }) });
  expect((await credentials()).headers).toEqual({ authorization: 'Bearer third' });
});

test('an exec plugin and what it starts are not those of the project', async () => {
  const project = mkdtempSync(join(directory, 'project-'));
  const script = (token: string) => `#!/usr/bin/env wc-shell\necho '{"status":{"token":"${token}"}}'\n`;
  const folders = ['node_modules/.bin', 'tools', '../own'].map((name) => join(project, name));
  for (const folder of folders) {
    mkdirSync(folder, { recursive: true });
    const isOwn = folder.endsWith('/own');
    writeFileSync(join(folder, 'wc-cloud'), script(isOwn ? 'own' : 'foreign'), { mode: 0o755 });
    symlinkSync(isOwn ? '/bin/sh' : '/bin/false', join(folder, 'wc-shell'));
  }
  vi.stubEnv('PATH', `${folders.join(':')}:${process.env.PATH}`);
  const before = process.cwd();
  process.chdir(project);
  try {
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'wc-cloud' };
    const { credentials } = findCluster({ kubeconfig: write('of-project', { exec }) });
    expect((await credentials()).headers).toEqual({ authorization: 'Bearer own' });
  } finally {
    process.chdir(before);
  }
});

test('no path starts at the working directory', async () => {
  const before = process.cwd();
  const elsewhere = mkdtempSync(join(directory, 'elsewhere-'));
  writeFileSync(join(elsewhere, 'wc-login'), '#!/bin/sh\necho \'{"status":{"token":"from here"}}\'\n', {
    mode: 0o755,
  });
  vi.stubEnv('PATH', `.::${process.env.PATH}`);
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'wc-login' };
  process.chdir(directory);
  try {
    write('here', { tokenFile: 'own-token' });
    // The name is of the caller, so it starts where the caller is, and stays there.
    const { credentials } = findCluster({ kubeconfig: 'here' });
    writeFileSync(join(directory, 'own-token'), 'beside');
    process.chdir(elsewhere);
    expect((await credentials()).headers).toEqual({ authorization: 'Bearer beside' });
    const plugin = findCluster({ kubeconfig: write('by-name', { exec }) });
    await expect(plugin.credentials()).rejects.toThrow(/not in PATH/);
  } finally {
    process.chdir(before);
  }
});

test('a machine knows of a cluster when somebody names one or the usual place has one', () => {
  const home = mkdtempSync(join(directory, 'home-'));
  vi.stubEnv('HOME', home);
  vi.stubEnv('KUBECONFIG', undefined);
  vi.stubEnv('KUBERNETES_SERVICE_HOST', undefined);
  expect(knowsCluster({})).toBe(false);
  expect(knowsCluster({ kubeconfig: '/nowhere' })).toBe(true);
  expect(knowsCluster({ context: 'one' })).toBe(true);
  vi.stubEnv('KUBECONFIG', '/nowhere');
  expect(knowsCluster({})).toBe(true);
  vi.stubEnv('KUBECONFIG', undefined);
  mkdirSync(join(home, '.kube'));
  writeFileSync(join(home, '.kube', 'config'), '');
  expect(knowsCluster({})).toBe(true);
});
