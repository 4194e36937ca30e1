/** An empty project with the packed package in it, as somebody has it who installed it. */
import { execFile, execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { checkout } from '../house/source.js';
import { startLocalRegistry } from './local-registry.js';

export interface PackedProject {
  readonly folder: string;
  /** Where the package lies in it. */
  readonly installed: string;
  readonly manifest: Manifest;
}

interface Manifest {
  readonly exports: Record<string, { types: string; default: string }>;
  readonly bin: Record<string, string>;
  readonly peerDependencies: Record<string, string>;
}

/** Packs a copy of the sources without a build, and installs that with npm: a package that ours does not declare is missing. */
export async function packedProject(): Promise<PackedProject> {
  const folder = mkdtempSync(join(tmpdir(), 'workcell-release-'));
  const tarball = pack(folder);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }\n');
  await using registry = await startLocalRegistry();
  await run('npm', ['install', tarball, '@types/node', '--no-audit', '--no-fund'], {
    cwd: folder,
    env: {
      ...process.env,
      npm_config_registry: registry.url,
      npm_config_cache: join(folder, 'cache'),
      // Nothing of the user's own settings: a proxy of theirs does not reach this loopback.
      npm_config_noproxy: '127.0.0.1',
      npm_config_userconfig: '/dev/null',
    },
  });
  const installed = join(folder, 'node_modules/workcell');
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Manifest;
  return { folder, installed, manifest };
}

const run = promisify(execFile);

/** Adds packages to the project. */
export function link(folder: string, names: readonly string[]): void {
  for (const name of names) {
    const place = join(folder, 'node_modules', name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(checkout, 'node_modules', name), place);
  }
}

function pack(folder: string): string {
  const clone = join(folder, 'clone');
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: checkout,
    encoding: 'utf8',
  });
  for (const path of listed.split('\n').filter((line) => line !== ''))
    cpSync(join(checkout, path), join(clone, path), { recursive: true });
  symlinkSync(join(checkout, 'node_modules'), join(clone, 'node_modules'));
  execFileSync('npm', ['pack', '--offline', '--pack-destination', folder], { cwd: clone, stdio: 'pipe' });
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '');
}
