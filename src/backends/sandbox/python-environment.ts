/** A Python of this machine in a sandbox: which directories it needs, and where the cell looks for it. */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { WorkcellError } from '../../protocol/index.js';

export interface PythonEnvironment {
  /** Mount it read-only at the same place. */
  readonly directories: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
}

/** `path`: the search path that the cell has otherwise. */
export function pythonEnvironment(program: string, path: string): PythonEnvironment {
  const base = dirname(resolved(program));
  // Where we mount it: links on the way there do not exist in the cell.
  const bin = resolved(dirname(program));
  const root = dirname(bin);
  const marker = readMarker(join(root, 'pyvenv.cfg'));
  const variables = { PATH: `${bin}:${path}` };
  if (marker === undefined) return { directories: [bin, ...installation(base)].filter(isUnseen), variables };
  const home = /^home *= *(\/.*?) *$/m.exec(marker)?.[1];
  const directories = [root, ...installation(base), ...(home === undefined ? [] : installation(home))];
  return {
    directories: [...new Set(directories)].filter(isUnseen),
    variables: { ...variables, VIRTUAL_ENV: root },
  };
}

/** The programs of an installation, and the libraries beside them. */
function installation(bin: string): string[] {
  return [bin, join(dirname(bin), 'lib')].filter((directory) => existsSync(directory));
}

/** A cell has the system's own directories anyway. */
function isUnseen(directory: string): boolean {
  return !/^\/(?:usr|bin|lib\w*|opt)(?:\/|$)/.test(directory);
}

function resolved(program: string): string {
  try {
    return realpathSync(program);
  } catch (cause) {
    throw new WorkcellError(
      'invalid-config',
      `There is no Python at ${program}. Name one with the option python.`,
      {
        details: { python: program },
        cause,
      },
    );
  }
}

function readMarker(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
