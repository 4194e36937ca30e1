/** Finds programs: those of a cell on its own search path, those of this side in the system's directories. */
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { reachTrusted } from './trusted-path.js';
import { homeDirectory } from './user-directories.js';

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

export interface HostPathOptions {
  /** Default: that of this process. */
  readonly path?: string | undefined;
  /** The project that this process works in. Default: its working directory. */
  readonly cwd?: string | undefined;
  /** Directories of the project that its user chose. */
  readonly chosen?: readonly string[] | undefined;
}

/**
 * `PATH` without what the author of a project chooses: entries such as `.`, directories of the project, and those that `npx`
 * adds. Programs of this side get it, because many of them start others by name.
 */
export function hostPath({ path = process.env.PATH ?? '', cwd, chosen = [] }: HostPathOptions = {}): string {
  const project = cwd ?? process.cwd();
  const isHost = (folder: string) =>
    isAbsolute(folder) && (chosen.includes(resolve(folder)) || !isOfProject(folder, project));
  // An empty path would stand for the working directory.
  return path.split(':').filter(isHost).join(':') || defaultPath;
}

/** The variables of this process for a program that it starts by itself. */
export function hostEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: hostPath() };
}

/**
 * The absolute path of a program that this side starts by itself. Looks in the system's own directories first, then in
 * `PATH`, and there only in absolute directories outside a project that no other user can write to.
 */
export function findHostProgram(name: string, options: HostPathOptions = {}): string | undefined {
  const known = ofSystem.get(name);
  if (known !== undefined && isExecutable(known)) return known;
  const system = systemDirectories.map((folder) => join(folder, name)).find(isExecutable);
  if (system !== undefined) {
    ofSystem.set(name, system);
    return system;
  }
  return findTrustedProgram(name, options);
}

/** The same without the system's own directories. */
export function findTrustedProgram(name: string, options: HostPathOptions): string | undefined {
  return hostPath(options)
    .split(':')
    .map((folder) => join(folder, name))
    .find((file) => isExecutable(file) && isTrusted(file));
}

/** The same for starting it: where there is none, the path says where it should be, and the start fails. */
export function hostProgram(name: string): string {
  return findHostProgram(name) ?? join('/usr/bin', name);
}

/** A home is no project, though people work in it: their own programs are there. */
function isOfProject(folder: string, project: string): boolean {
  const places = [folder, real(folder)];
  if (places.some((place) => place.split('/').includes('node_modules'))) return true;
  return !holdsHome(project) && places.some((place) => isWithin(place, project));
}

function holdsHome(directory: string): boolean {
  try {
    return isWithin(real(homeDirectory()), directory);
  } catch {
    // A user whom the system does not know has none.
    return directory === '/';
  }
}

function isWithin(path: string, directory: string): boolean {
  return !relative(directory, path).split('/').includes('..');
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function isTrusted(file: string): boolean {
  try {
    reachTrusted(file)[Symbol.dispose]();
    return true;
  } catch {
    return false;
  }
}

/** Without a PATH the C library looks in these. */
const defaultPath = '/usr/local/bin:/bin:/usr/bin';

/** An empty entry means the working directory. */
function searchPath(path = defaultPath): string[] {
  return path.split(':').map((folder) => (folder === '' ? '.' : folder));
}

function isExecutable(file: string): boolean {
  try {
    // Most are nowhere, and an error for each would take ten times as long.
    const stats = statSync(file, { throwIfNoEntry: false });
    if (!stats?.isFile() || (stats.mode & 0o111) === 0) return false;
    // `access` answers for the real user, but programs start as the effective user.
    const isDisguised = process.geteuid?.() !== process.getuid?.();
    if (!isDisguised) accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
