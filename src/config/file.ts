/** Finds and reads `workcell.toml`. */
import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { WorkcellError } from '../protocol/errors.js';
import type { Table } from './table.js';

const fileName = 'workcell.toml';

/** The nearest file from a directory upwards. The search ends at the home directory or the file-system root. */
export function findConfigFile(cwd: string, home = homedir()): string | undefined {
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    const path = join(directory, fileName);
    if (statSync(path, { throwIfNoEntry: false })?.isFile()) return path;
    if (directory === home || directory === dirname(directory)) return undefined;
  }
}

export function readConfigFile(path: string): Table {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new WorkcellError('invalid-config', `The configuration file ${path} ${describe(error)}`, {
      details: { file: path },
      cause: error,
    });
  }
}

/** A TOML message goes on with an excerpt of the file, which may show a secret: only its first line is kept. */
function describe(error: unknown): string {
  if (error instanceof TomlError) {
    const problem = error.message.split('\n')[0]?.replace('Invalid TOML document: ', '');
    return `is not valid TOML at line ${error.line}, column ${error.column}: ${problem}.`;
  }
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' ? 'does not exist. Make it, or name another one.' : `cannot be read: ${message}.`;
}
