/** Runs programs under bubblewrap, with or without the filter. */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import {
  type Architecture,
  type SeccompOptions,
  seccompFilter,
} from '../../../../src/cell/launchers/seccomp/index.js';

export const architecture: Architecture | undefined =
  process.arch === 'x64' || process.arch === 'arm64' ? process.arch : undefined;

/** Why nothing can run here, for the title of a skipped test. */
export const obstacle: string | undefined = findObstacle();

export interface Finished {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `filter: false` leaves the filter out, everything else being the same. */
export interface BubblewrapOptions {
  readonly filter?: SeccompOptions | false;
  readonly stdin?: string;
}

export async function bubblewrap(
  argv: readonly string[],
  { filter = {}, stdin = '' }: BubblewrapOptions = {},
): Promise<Finished> {
  if (filter === false || architecture === undefined) return finish(argv, [], stdin);
  const descriptor = descriptorOf(seccompFilter(architecture, filter));
  try {
    return await finish(['--seccomp', '3', ...argv], [descriptor], stdin);
  } finally {
    closeSync(descriptor);
  }
}

function findObstacle(): string | undefined {
  if (process.platform !== 'linux') return 'skipped: not Linux';
  if (architecture === undefined) return `skipped: no filter for ${process.arch}`;
  const directories = (process.env.PATH ?? '').split(delimiter);
  const installed = directories.some((directory) => existsSync(join(directory, 'bwrap')));
  return installed ? undefined : 'skipped: bubblewrap is not installed';
}

function descriptorOf(filter: Buffer): number {
  const directory = mkdtempSync(join(tmpdir(), 'workcell-seccomp-'));
  try {
    writeFileSync(join(directory, 'filter'), filter);
    return openSync(join(directory, 'filter'), 'r');
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function finish(argv: readonly string[], descriptors: readonly number[], stdin: string): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn('bwrap', argv, { stdio: ['pipe', 'pipe', 'pipe', ...descriptors] });
    const output = { stdout: '', stderr: '' };
    child.stdout?.on('data', (chunk) => {
      output.stdout += chunk;
    });
    child.stderr?.on('data', (chunk) => {
      output.stderr += chunk;
    });
    child.on('error', reject);
    child.on('close', (exitCode) => resolve({ exitCode, ...output }));
    child.stdin?.on('error', () => {});
    child.stdin?.end(stdin);
  });
}
