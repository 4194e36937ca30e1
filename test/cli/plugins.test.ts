/** `workcell plugins search` and `add`, with the real npm and a registry on loopback. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { withDirectory, workcell } from './workcell.js';

const name = 'workcell-plugin-sample';

/** A registry with one package: what npm asks to search and to install. */
async function registry(directory: string, module: string): Promise<{ url: string; asked: string[] }> {
  const place = join(directory, 'package');
  mkdirSync(place);
  const manifest = {
    name,
    version: '1.2.0',
    main: 'index.mjs',
    scripts: { postinstall: `touch ${directory}/ran` },
  };
  writeFileSync(join(place, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(place, 'index.mjs'), module);
  execFileSync('tar', ['-C', directory, '-czf', join(directory, 'p.tgz'), 'package']);
  const archive = readFileSync(join(directory, 'p.tgz'));
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    if (path.endsWith('.tgz')) return response.end(archive);
    response.setHeader('content-type', 'application/json');
    if (path.startsWith('/-/v1/search')) {
      const about = {
        name,
        version: '1.2.0',
        description: 'A sample\u001b[2J.',
        date: '2026-01-01T00:00:00Z',
      };
      return response.end(
        JSON.stringify({ objects: [{ package: { ...about, maintainers: [] } }], total: 1 }),
      );
    }
    if (path !== `/${name}`) return response.writeHead(404).end('{}');
    const dist = {
      tarball: `${url}/${name}/-/p.tgz`,
      integrity: `sha512-${createHash('sha512').update(archive).digest('base64')}`,
    };
    const version = { ...manifest, hasInstallScript: true, dist };
    return response.end(
      JSON.stringify({ name, 'dist-tags': { latest: '1.2.0' }, versions: { '1.2.0': version } }),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, asked };
}

const settings = (directory: string, url: string) => ({
  npm_config_registry: url,
  npm_config_cache: join(directory, 'cache'),
  npm_config_update_notifier: 'false',
  XDG_CONFIG_HOME: join(directory, 'config'),
});

const plugin = `export default { name: 'sample', version: '1.2.0', summary: 'A sample.', actions: {}, initialize: () => ({ handlers: {} }) };`;

test('plugins are found on npm by their keyword, installed beside the configuration, and work from there', () =>
  withDirectory(async (directory) => {
    const { url, asked } = await registry(directory, plugin);
    const env = settings(directory, url);
    const found = await workcell(['plugins', 'search', 'sample'], { env });
    expect(found).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/sample +1\.2\.0 +A sample/) });
    expect(found.stdout).not.toContain('\u001b[2J');
    expect(decodeURIComponent(asked[0]?.replaceAll('+', ' ') ?? '')).toContain(
      'keywords:workcell-plugin sample',
    );

    const added = await workcell(['plugins', 'add', `${name}@1.2.0`], { env });
    expect(added).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining(`${name} 1.2.0 is installed`),
    });
    expect(existsSync(join(directory, 'ran'))).toBe(false);
    const [line = ''] = /^plugins = .*$/m.exec(added.stdout) ?? [];
    writeFileSync(join(directory, 'config/workcell/config.toml'), line);
    const listed = await workcell(['plugins', 'list', '--backend', 'cli', '--json'], { env });
    expect(JSON.parse(listed.stdout)).toContainEqual(
      expect.objectContaining({ name: 'sample', state: 'ready' }),
    );
  }));

test('a search asks the registry of the user, whatever the project names', () =>
  withDirectory(async (directory) => {
    const own = await registry(directory, plugin);
    const elsewhere = join(directory, 'foreign');
    mkdirSync(elsewhere);
    const foreign = await registry(elsewhere, plugin);
    const { npm_config_registry: _, ...env } = settings(directory, own.url);
    const project = join(directory, 'project');
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), '{}');
    writeFileSync(join(project, '.npmrc'), `registry=${foreign.url}\n`);
    const userconfig = join(directory, 'npmrc');
    writeFileSync(userconfig, `registry=${own.url}\n`);
    const found = await workcell(['plugins', 'search', 'sample'], {
      env: { ...env, npm_config_userconfig: userconfig },
      cwd: project,
    });
    expect(found.exitCode).toBe(0);
    expect(own.asked).not.toEqual([]);
    expect(foreign.asked).toEqual([]);
  }));

test('npm and its node are those of the user, whatever the project has by their names', () =>
  withDirectory(async (directory) => {
    const { url } = await registry(directory, plugin);
    const project = join(directory, 'project');
    const programs = join(project, 'node_modules/.bin');
    mkdirSync(programs, { recursive: true });
    for (const program of ['npm', 'node', 'sh'])
      writeFileSync(join(programs, program), `#!/bin/bash\ntouch ${directory}/ran\n`, { mode: 0o755 });
    const env = { ...settings(directory, url), PATH: `${programs}:.:${process.env.PATH}` };
    const added = await workcell(['plugins', 'add', name], { env, cwd: project });
    expect(added).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(directory, 'ran'))).toBe(false);
  }));

test('a package that is no plugin, and a name that is no package, are refused', () =>
  withDirectory(async (directory) => {
    const { url, asked } = await registry(directory, 'export default 42;');
    const env = settings(directory, url);
    const refused = await workcell(['plugins', 'add', name], { env });
    expect(refused.exitCode).not.toBe(0);
    expect(refused.stderr).toContain('is not a plugin');
    asked.length = 0;
    const odd = await workcell(['plugins', 'add', '--', '--registry=http://evil.example'], { env });
    expect(odd.stderr).toContain('is not the name of an npm package');
    const absent = await workcell(['plugins', 'add', 'workcell-plugin-absent'], { env });
    expect(absent.stderr).toContain('npm install failed');
    expect(asked.every((path) => path.includes('absent'))).toBe(true);
  }));
