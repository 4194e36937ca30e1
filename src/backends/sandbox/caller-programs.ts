/**
 * The caller's own programs that a cell would lack: a Node of nvm or Volta, a Go or a Java that somebody unpacked
 * somewhere. The cell sees known parts of their installations at the same place, read-only. It sees only what this
 * user or root installed, never a home directory or a project, and nothing that a cell can write to. Every decision
 * is about paths without links, because the cell gets those.
 */
import {
  accessSync,
  closeSync,
  constants,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join, relative } from 'node:path';
import { reachTrusted } from '../../base/trusted-path.js';
import { cellEnvironment } from '../../cell/launchers/bubblewrap/layout.js';
import { hasProjectMark, installationParts } from './installation.js';

/** The programs that agents use most. The cell also gets others of the same installations. */
export const callerProgramNames = [
  'node',
  'npm',
  'python3',
  'go',
  'cargo',
  'java',
  'rg',
  'git',
  'uv',
  'deno',
  'bun',
  'pnpm',
  'yarn',
];

/** The cell has this machine's own copies of these. */
const systemTrees = ['/usr', '/bin', '/sbin', '/lib', '/opt'];
const systemPath = (cellEnvironment.PATH ?? '').split(':');
/** The cell has its own versions of these. */
const cellTrees = ['/tmp', '/run', '/proc', '/sys', '/dev', '/etc', '/workspace', '/home/agent', '/var/tmp'];

export interface CallerPrograms {
  /** Paths to show at the same place, read-only. */
  readonly mounts: readonly string[];
  /** Directories for the front of the cell's search path. */
  readonly path: readonly string[];
  /** Where each program is that the caller has. */
  readonly programs: Readonly<Record<string, string>>;
}

export interface Caller {
  readonly path?: string;
  readonly home?: string;
  readonly node?: string;
  readonly cwd?: string;
  /** What cells write to. */
  readonly writable?: readonly string[];
}

let last: { key: string; state: string; found: CallerPrograms } | undefined;

/** Looks again only when the caller's surroundings change: every start of a cell asks. */
export function callerPrograms(caller: Caller = {}): CallerPrograms {
  const { path = process.env.PATH ?? '', home = homedir(), node = process.execPath } = caller;
  const { cwd = process.cwd(), writable = [] } = caller;
  const key = JSON.stringify([path, home, node, cwd, writable]);
  if (last?.key === key && last.state === stateOf(path, last.found)) return last.found;
  const found = find({ path, home, node, cwd, writable });
  last = { key, state: stateOf(path, found), found };
  return found;
}

/** Changes when programs come or go, such as by an update. */
function stateOf(path: string, { mounts }: CallerPrograms): string {
  const watched = new Set([...path.split(delimiter).filter(isAbsolute), ...mounts, ...mounts.map(dirname)]);
  return [...watched].map(identityOf).join();
}

function identityOf(path: string): string {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats === undefined ? '' : `${stats.dev}:${stats.ino}:${stats.mode}:${stats.uid}:${stats.mtimeMs}`;
  } catch {
    return '';
  }
}

function find({ path, home, node, cwd, writable }: Required<Caller>): CallerPrograms {
  const mounts = new Set<string>();
  const folders = new Set<string>();
  const programs: Record<string, string> = {};
  const surroundings = surroundingsOf(home, cwd, writable);
  const searched = path.split(delimiter).filter(isAbsolute).filter(isNotOfPackage).flatMap(real);
  for (const name of callerProgramNames) {
    const [first, ...later] = searched.map((folder) => join(folder, name)).filter(isExecutable);
    if (first === undefined) continue;
    // A shim of a version manager needs that manager, which would choose the Node that runs this.
    const own = name === 'node' ? real(node) : [];
    const candidates = [first, ...real(first), ...own, ...later];
    for (const file of candidates) {
      const parts = isOfSystem(file) ? [] : partsOf(file, name, surroundings);
      if (parts === undefined) continue;
      programs[name] = file;
      for (const part of parts) mounts.add(part);
      if (!systemPath.includes(dirname(file))) folders.add(dirname(file));
      break;
    }
  }
  const rank = (folder: string) => (searched.includes(folder) ? searched.indexOf(folder) : searched.length);
  const ordered = [...folders].sort((one, other) => rank(one) - rank(other));
  return { mounts: [...mounts], path: ordered, programs };
}

interface Surroundings {
  readonly homes: readonly string[];
  /** Also compares by identity: a directory can be mounted in two places. */
  readonly homeIdentities: ReadonlySet<string>;
  readonly project: string | undefined;
  readonly writable: readonly string[];
}

function surroundingsOf(given: string, cwd: string, writable: readonly string[]): Surroundings {
  const homes = [given, ...homeOfUser()].flatMap(real);
  const [here = cwd] = real(cwd);
  const isAroundHome = homes.some((home) => isWithin(home, [here]));
  return {
    homes,
    homeIdentities: new Set(homes.map(inodeOf)),
    project: here === '/' || isAroundHome ? undefined : here,
    writable: writable.flatMap((path) => [path, ...real(path)]),
  };
}

/** `HOME` may say something else, as in a service or under sudo. */
function homeOfUser(): string[] {
  try {
    return [userInfo().homedir];
  } catch {
    return [];
  }
}

/**
 * What the cell must see for a program to run: the parts of its installation, or itself; undefined where it must not
 * see them.
 */
function partsOf(file: string, name: string, surroundings: Surroundings): string[] | undefined {
  const folder = dirname(file);
  const tree = dirname(folder);
  const { project, writable } = surroundings;
  try {
    if (!isNotOfPackage(folder) || isWithin(folder, [...cellTrees, ...writable])) return undefined;
    if (writable.some((path) => isWithin(path, [tree]))) return undefined;
    if ((project !== undefined && isWithin(folder, [project])) || isOfProject(folder, surroundings))
      return undefined;
    reachTrusted(file)[Symbol.dispose]();
    reachTrusted(folder)[Symbol.dispose]();
    const target = realpathSync(file);
    const mayHold = basename(folder) === 'bin' && !isNearHome(tree, surroundings);
    const parts = mayHold ? installationParts(tree) : undefined;
    if (parts !== undefined) return isWithin(target, parts) ? parts : undefined;
    return target === file && isBinary(file) && basename(file) === name ? [file] : undefined;
  } catch {
    return undefined;
  }
}

/** The root, a home, a directory around one, or directly in one: these hold more than programs. */
function isNearHome(tree: string, { homes, homeIdentities }: Surroundings): boolean {
  const parent = dirname(tree);
  if (parent === '/' || homes.some((home) => isWithin(home, [tree]))) return true;
  if (dirname(parent) === '/home' && parent !== '/home/linuxbrew') return true;
  return homeIdentities.has(inodeOf(tree)) || homeIdentities.has(inodeOf(parent));
}

/**
 * Whether a directory, or one around it, is a project: its files belong to whoever works there, cells among them.
 * Version managers are checkouts in hidden directories, such as ~/.nvm, so there only the installation itself counts.
 */
function isOfProject(folder: string, { homeIdentities }: Surroundings): boolean {
  const around: string[] = [];
  let top = folder;
  for (; top !== '/' && !homeIdentities.has(inodeOf(top)); top = dirname(top)) around.push(top);
  const isHidden = (path: string) => `/${relative(top, path)}`.includes('/.');
  return around.some((path, level) => (level < 2 || !isHidden(path)) && hasProjectMark(path));
}

/** A link in a directory of the system may lead to a place that the cell does not see. */
function isOfSystem(file: string): boolean {
  return isWithin(file, systemTrees) && real(file).every((target) => isWithin(target, systemTrees));
}

/** What `npx` and a project put on the search path is the project's. */
function isNotOfPackage(folder: string): boolean {
  return !folder.split('/').includes('node_modules');
}

function isWithin(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(folder === '/' ? folder : `${folder}/`));
}

/** Empty for a path that does not exist. */
function real(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}

function inodeOf(path: string): string {
  const { dev, ino } = statSync(path);
  return `${dev}:${ino}`;
}

function isExecutable(file: string): boolean {
  try {
    // Most are nowhere, and an error for each would take ten times as long.
    if (statSync(file, { throwIfNoEntry: false }) === undefined) return false;
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A script in a home directory is most often a shim that needs more than itself. */
function isBinary(file: string): boolean {
  const descriptor = openSync(file, 'r');
  try {
    const start = Buffer.alloc(4);
    readSync(descriptor, start, 0, 4, 0);
    return start.toString('latin1') === '\x7fELF';
  } finally {
    closeSync(descriptor);
  }
}
