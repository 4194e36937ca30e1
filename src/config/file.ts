/**
 * Finds and reads configuration files. Reads none that another user owns or may write, nor one below such a
 * directory.
 */
import { lstatSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { readTrusted, UntrustedPathError } from '../base/trusted-path.js';
import { configDirectory, homeDirectory } from '../base/user-directories.js';
import { WorkcellError } from '../protocol/errors.js';
import type { Table } from './plain-table.js';

export interface ConfigFile {
  /** Without links. */
  readonly path: string;
  readonly text: string;
  /** Only its owner can read it. */
  readonly isPrivate: boolean;
}

/** The name of a project's file. */
export const projectFileName = 'workcell.toml';

type Environment = Readonly<Record<string, string | undefined>>;

/** The user's own file; undefined when there is none. */
export function readUserFile(env: Environment): ConfigFile | undefined {
  const path = join(configDirectory(env), 'config.toml');
  return exists(path) ? readNamedFile(path) : undefined;
}

/** A file that must exist. */
export function readNamedFile(path: string): ConfigFile {
  try {
    return readTrusted(path);
  } catch (cause) {
    if (cause instanceof UntrustedPathError)
      throw untrusted(path, `The configuration file ${path} is refused: ${cause.message}.`, cause);
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason =
      code === 'ENOENT' ? 'does not exist. Make it, or name another one.' : `cannot be read: ${message}.`;
    throw new WorkcellError('invalid-config', `The configuration file ${path} ${reason}`, {
      details: { file: path },
      cause,
    });
  }
}

/**
 * The nearest file from a directory upwards. The search ends at the home directory or the file-system root. It skips
 * and reports files that other users have put into shared directories, because everybody can do that.
 */
export function findProjectFile(
  cwd: string,
  env: Environment,
  onForeign: (path: string, reason: string) => void,
): ConfigFile | undefined {
  const home = homeDirectory(env);
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    const path = join(directory, projectFileName);
    const found = exists(path) ? readFound(path, onForeign) : undefined;
    if (found !== undefined) return found;
    if (directory === home || directory === dirname(directory)) return undefined;
  }
}

function readFound(path: string, onForeign: (path: string, reason: string) => void): ConfigFile | undefined {
  try {
    return readProjectFile(path);
  } catch (error) {
    const { cause } = error as Error;
    if (!(cause instanceof UntrustedPathError) || !cause.shared || cause.path !== path) throw error;
    onForeign(path, cause.reason);
    return undefined;
  }
}

/** A file that a search found. It may not be a link: that could lead to any file of this user. */
export function readProjectFile(path: string): ConfigFile {
  try {
    return readTrusted(path, { follow: false });
  } catch (cause) {
    if (!(cause instanceof UntrustedPathError)) return readNamedFile(path);
    throw untrusted(
      path,
      `The configuration file ${path} is refused: ${cause.message}. Make it and the directories above it yours alone, or go on without it: --no-config, or --config FILE.`,
      cause,
    );
  }
}

export function untrusted(file: string, message: string, cause?: unknown): WorkcellError {
  return new WorkcellError('config-untrusted', message, { details: { file }, cause });
}

export function parseConfigFile({ path, text }: ConfigFile): Table {
  try {
    return parse(text);
  } catch (error) {
    throw new WorkcellError('invalid-config', `The configuration file ${path} ${describe(error)}`, {
      details: { file: path },
      cause: error,
    });
  }
}

/** A TOML message continues with an excerpt of the file, which may show a secret, so keep only its first line. */
function describe(error: unknown): string {
  if (!(error instanceof TomlError)) return `cannot be read: ${(error as Error).message}.`;
  const problem = error.message.split('\n')[0]?.replace('Invalid TOML document: ', '');
  return `is not valid TOML at line ${error.line}, column ${error.column}: ${problem}.`;
}

function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
