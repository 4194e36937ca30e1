/**
 * The caller's own programs that a cell would lack: a Node of nvm or Volta, a Go or a Java that was unpacked somewhere. The
 * cell sees their installations at the same place, read-only. Only what this user or root installed comes along, never a
 * home directory or a part of one that holds more than programs, and nothing that a cell can write to.
 */
import { accessSync, closeSync, constants, openSync, readdirSync, readSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path';
import { reachTrusted } from '../../base/trusted-path.js';
import { cellEnvironment } from '../../cell/launchers/bubblewrap/layout.js';

/** What agents use most. Others of the same installations come along. */
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

/** The cell has this machine's own of these. */
const systemTrees = ['/usr', '/bin', '/sbin', '/lib', '/opt'];
const systemPath = (cellEnvironment.PATH ?? '').split(':');
/** The cell has its own of these. */
const cellTrees = ['/tmp', '/run', '/proc', '/sys', '/dev', '/etc', '/workspace', '/home/agent', '/var/tmp'];
/** Settings may hold passwords, such as those of an npm registry. */
const leftOut = new Set(['etc', 'var', 'tmp']);
const mostParts = 40;

export interface CallerPrograms {
  /** Paths to show at the same place, read-only. */
  readonly mounts: readonly string[];
  /** Directories for the front of the cell's search path. */
  readonly path: readonly string[];
  /** Where each program is, for those that the caller has. */
  readonly programs: Readonly<Record<string, string>>;
}

export interface Caller {
  readonly path?: string | undefined;
  readonly home?: string;
  readonly node?: string;
  /** What cells write to. */
  readonly writable?: readonly string[];
}

let last: { key: string; found: CallerPrograms } | undefined;

/** Looked for again only when the caller's surroundings change: every start of a cell asks. */
export function callerPrograms(caller: Caller = {}): CallerPrograms {
  const { path = process.env.PATH ?? '', home = homedir(), node = process.execPath, writable = [] } = caller;
  const key = JSON.stringify([path, home, node, writable]);
  if (last?.key !== key) last = { key, found: find({ path, home, node, writable }) };
  return last.found;
}

function find({ path, home, node, writable }: Required<Caller>): CallerPrograms {
  const mounts = new Set<string>();
  const folders = new Set<string>();
  const programs: Record<string, string> = {};
  const searched = (path ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isOfPackage(folder));
  for (const name of callerProgramNames) {
    const [first, ...later] = searched.map((folder) => join(folder, name)).filter(isExecutable);
    if (first === undefined) continue;
    // A shim of a version manager needs that manager; the Node that runs this is the one it would choose.
    const own = name === 'node' ? [node] : [];
    const candidates = [first, realpathSync(first), ...own, ...later];
    for (const file of candidates) {
      const parts = isWithin(file, systemTrees) ? [] : partsOf(file, name, { home, writable });
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

/** What has to be seen for a program to run: the parts of its installation, or itself; undefined where that must not be. */
function partsOf(
  file: string,
  name: string,
  { home, writable }: { home: string; writable: readonly string[] },
): string[] | undefined {
  const folder = dirname(file);
  const tree = dirname(folder);
  try {
    if (isWithin(folder, [...cellTrees, ...writable]) || writable.some((path) => isWithin(path, [tree])))
      return undefined;
    reachTrusted(file)[Symbol.dispose]();
    reachTrusted(folder)[Symbol.dispose]();
    const isInstallation =
      basename(folder) === 'bin' && dirname(tree) !== '/' && tree !== home && dirname(tree) !== home;
    if (!isInstallation)
      return realpathSync(file) === file && isBinary(file) && basename(file) === name ? [file] : undefined;
    if (!isWithin(realpathSync(file), [tree])) return undefined;
    const parts = readdirSync(tree, { withFileTypes: true })
      .filter((part) => !part.isSymbolicLink() && !part.name.startsWith('.') && !leftOut.has(part.name))
      .map((part) => join(tree, part.name));
    return parts.length > mostParts ? undefined : parts;
  } catch {
    return undefined;
  }
}

/** What `npx` and a project put on the search path is the project's. */
function isOfPackage(folder: string): boolean {
  return folder.split('/').includes('node_modules');
}

function isWithin(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

function isExecutable(file: string): boolean {
  try {
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
