/** An empty project with the packed package in it, as somebody has it who installed it. */
import { execFileSync } from 'node:child_process';
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
import { checkout } from '../house/source.js';

export interface PackedProject {
  readonly folder: string;
  /** Where the package lies in it. */
  readonly installed: string;
  readonly manifest: Manifest;
}

interface Manifest {
  readonly exports: Record<string, { types: string; default: string }>;
  readonly bin: Record<string, string>;
  readonly dependencies: Record<string, string>;
  readonly optionalDependencies: Record<string, string>;
  readonly peerDependencies: Record<string, string>;
}

/**
 * Packs a copy of the sources without a build, and unpacks that. Dependencies are links into this checkout, so
 * nothing needs a download, and a package that ours does not declare is missing.
 */
export function packedProject(): PackedProject {
  const folder = mkdtempSync(join(tmpdir(), 'workcell-release-'));
  const tarball = pack(folder);
  const installed = join(folder, 'node_modules/workcell');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['xzf', tarball, '--strip-components=1', '-C', installed]);
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Manifest;
  const { dependencies, optionalDependencies } = manifest;
  link(folder, [...Object.keys({ ...dependencies, ...optionalDependencies }), '@types/node']);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }\n');
  return { folder, installed, manifest };
}

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
