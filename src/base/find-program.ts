/** Finds programs: those of a cell on its own search path, those of this side in the system's directories. */
import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { reachTrusted } from './trusted-path.js';

/**
 * The path that starting a program would use. A name with a slash starts at `cwd`; any other name is searched in the
 * directories of `path`. Undefined when no such file exists or nobody may execute it.
 */
export function findProgram(name: string, path: string | undefined, cwd = '/'): string | undefined {
  if (name === '') return undefined;
  const candidates = name.includes('/')
    ? [resolve(cwd, name)]
    : searchPath(path).map((folder) => resolve(cwd, folder, name));
  return candidates.find(isExecutable);
}

const systemDirectories = [
  '/usr/local/bin',
  '/usr/bin',
  '/bin',
  '/usr/local/sbin',
  '/usr/sbin',
  '/sbin',
  '/run/wrappers/bin',
  '/run/current-system/sw/bin',
  '/opt/homebrew/bin',
];

/** Caches where we found each program and tries that place first, because every cell asks. */
const ofSystem = new Map<string, string>();

/**
 * The absolute path of a program that this side starts by itself. Looks in the system's own directories first, then in
 * `PATH`, and there only in absolute directories outside a project that no other user can write to. An entry such as
 * `.`, or one that `npx` adds, would let the author of a project choose the program.
 */
export function findHostProgram(
  name: string,
  { path = process.env.PATH ?? '', cwd = process.cwd() }: { path?: string; cwd?: string } = {},
): string | undefined {
  const known = ofSystem.get(name);
  if (known !== undefined && isExecutable(known)) return known;
  const system = systemDirectories.map((folder) => join(folder, name)).find(isExecutable);
  if (system !== undefined) {
    ofSystem.set(name, system);
    return system;
  }
  return path
    .split(':')
    .filter((folder) => isAbsolute(folder) && !isOfProject(folder, cwd))
    .map((folder) => join(folder, name))
    .find((file) => isExecutable(file) && isTrusted(file));
}

/** The same for starting it: where there is none, the path says where it should be, and the start fails. */
export function hostProgram(name: string): string {
  return findHostProgram(name) ?? join('/usr/bin', name);
}

function isOfProject(folder: string, cwd: string): boolean {
  if (folder.split('/').includes('node_modules')) return true;
  return cwd !== '/' && !relative(cwd, folder).startsWith('..');
}

function isTrusted(file: string): boolean {
  try {
    reachTrusted(file)[Symbol.dispose]();
    return true;
  } catch {
    return false;
  }
}

/** Without a PATH the C library looks in these. An empty entry means the working directory. */
function searchPath(path = '/usr/local/bin:/bin:/usr/bin'): string[] {
  return path.split(':').map((folder) => (folder === '' ? '.' : folder));
}

function isExecutable(file: string): boolean {
  try {
    // `access` answers for the real user, but programs start as the effective user.
    const isDisguised = process.geteuid?.() !== process.getuid?.();
    if (!isDisguised) accessSync(file, constants.X_OK);
    const stats = statSync(file);
    return stats.isFile() && (stats.mode & 0o111) !== 0;
  } catch {
    return false;
  }
}
