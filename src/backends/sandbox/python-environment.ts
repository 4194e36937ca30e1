/** A Python of this machine in a sandbox: which directories it needs, and where the cell looks for it. */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { workspaceInside } from '../../cell/launchers/bubblewrap/layout.js';
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

/**
 * The virtual environment `.venv` of a workspace, which whoever works there expects to be first. Undefined where its Python
 * would not start in a cell. The workspace may be anybody's, so it makes nothing more visible there. `seen`: the
 * directories of this machine that the cell sees besides the system's own.
 */
export function workspaceEnvironment(
  workspace: string,
  { path, seen }: { path: string; seen: readonly string[] },
): PythonEnvironment['variables'] | undefined {
  const root = join(workspace, '.venv');
  const bin = join(root, 'bin');
  try {
    if (realpathSync(bin) !== bin || !existsSync(join(root, 'pyvenv.cfg'))) return undefined;
    const python = realpathSync(join(bin, 'python3'));
    const starts = !isUnseen(python) || [workspace, ...seen].some((place) => python.startsWith(`${place}/`));
    if (!starts) return undefined;
  } catch {
    return undefined;
  }
  const inside = `${workspaceInside}/.venv`;
  return { PATH: `${inside}/bin:${path}`, VIRTUAL_ENV: inside };
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
