import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findHostProgram, hostPath } from '../../base/find-program.js';
import { homeDirectory } from '../../base/user-directories.js';

const answerMs = 5000;

interface GitIdentity {
  readonly name?: string | undefined;
  readonly email?: string | undefined;
}

/** The identity as a configuration for all users of a system: the settings of a repository and in the cell stand above it. */
export async function callerGitSettings(directory: string): Promise<string | undefined> {
  const identity = await callerGitIdentity(directory);
  if (identity === undefined) return undefined;
  const lines = Object.entries(identity).map(([key, value]) => `\t${key} = ${quoted(value)}\n`);
  return `[user]\n${lines.join('')}`;
}

/**
 * The name and the address that the caller commits under in this directory; undefined without any. Nothing else of the
 * caller's settings: those name programs and credentials.
 */
export async function callerGitIdentity(directory: string): Promise<GitIdentity | undefined> {
  if (!ownFiles().some((file) => existsSync(file))) return undefined;
  const git = findHostProgram('git');
  if (git === undefined) return undefined;
  const { HOME, XDG_CONFIG_HOME, GIT_CONFIG_GLOBAL } = process.env;
  const env = { PATH: hostPath(), HOME, XDG_CONFIG_HOME, GIT_CONFIG_GLOBAL };
  // The directory decides which conditional parts count. Reading starts no program that a repository names.
  const words = ['config', '--global', '--includes', '--null', '--get-regexp', '^user\\.(name|email)$'];
  const { stdout } = await promisify(execFile)(git, words, { cwd: directory, env, timeout: answerMs }).catch(
    () => ({ stdout: '' }),
  );
  const found = new Map(
    stdout.split('\0').flatMap((entry) => {
      const [, key, value] = /^user\.(name|email)\n(.+)$/s.exec(entry) ?? [];
      return key === undefined || value === undefined ? [] : [[key, value] as const];
    }),
  );
  return found.size === 0 ? undefined : Object.fromEntries(found);
}

function ownFiles(): string[] {
  const { GIT_CONFIG_GLOBAL, XDG_CONFIG_HOME } = process.env;
  if (GIT_CONFIG_GLOBAL !== undefined) return [GIT_CONFIG_GLOBAL];
  const home = homeDirectory();
  return [join(home, '.gitconfig'), join(XDG_CONFIG_HOME ?? join(home, '.config'), 'git/config')];
}

/** A line break would begin another setting. */
function quoted(value: string): string {
  return `"${value
    .replaceAll(/[\\"]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replaceAll(/\p{Cc}/gu, '')}"`;
}
