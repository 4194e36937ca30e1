/** The control directory of a cell, with the programs in it that other programs of the cell may not look into. */
import { existsSync, linkSync, lstatSync, mkdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { WorkcellError } from '../../../protocol/index.js';
import { makeFleeting, makeScratch } from '../scratch.js';
import { permitsExecution, unreadableCopy } from '../unreadable.js';
import { cellEnvironment, controlDirectory, controlInside } from './layout.js';

export interface Control {
  /** As this side sees it. */
  readonly path: string;
  /** What bubblewrap has to mount in it. */
  readonly mounts: readonly string[];
}

/**
 * Every program that holds a channel or the pipe of the reports. Without `script` a cell has one terminal only; a
 * request for another fails and says so.
 */
const programs = ['bash', 'script', 'setsid'] as const;

/** Makes it in the exchange directory. `rootfs`: the directory with the cell's system, if that is not this machine's. */
export function makeControl(exchange: string, rootfs: string | undefined): Control {
  const path = join(exchange, controlDirectory);
  mkdirSync(path, { mode: 0o300 });
  const mounts = programs.flatMap((name) => {
    const copy = copyOf(name, rootfs ?? '/');
    if (copy === undefined) return [];
    const place = join(path, name);
    if (copy.isBesideCells) {
      linkSync(copy.path, place);
      return [];
    }
    writeFileSync(place, '', { mode: 0o111 });
    return ['--ro-bind', copy.path, `${controlInside}/${name}`];
  });
  return { path, mounts };
}

interface Copy {
  readonly path: string;
  /** In the file system of the exchange directories, where a link is a tenth of the price of a mount. */
  readonly isBesideCells: boolean;
}

/** By the program that they are copies of. */
const copies = new Map<string, Copy & { readonly version: string }>();
/** Caches where we found each program: searching takes longer than all the rest. */
const places = new Map<string, string>();

/** Copied once for all cells of this process, and again when the program has changed. */
function copyOf(name: string, root: string): Copy | undefined {
  const key = join(root, name);
  let path = places.get(key);
  let version = path === undefined ? undefined : versionOf(path);
  if (path === undefined || version === undefined) {
    path = findBeneath(root, name);
    if (path === undefined) return undefined;
    places.set(key, path);
    version = versionOf(path) ?? '';
  }
  const known = copies.get(path);
  if (known?.version === version && existsSync(known.path)) return known;
  const copy = { ...makeCopy(path), version };
  copies.set(path, copy);
  return copy;
}

function versionOf(path: string): string | undefined {
  const stats = lstatSync(path, quiet);
  if (!stats?.isFile() || (stats.mode & 0o111) === 0) return undefined;
  return [stats.ino, stats.size, stats.mtimeMs].join();
}

function makeCopy(program: string): Copy {
  const beside = makeFleeting('programs');
  if (permitsExecution(beside)) return { path: unreadableCopy(program, beside), isBesideCells: true };
  const elsewhere = makeScratch('programs');
  if (permitsExecution(elsewhere)) return { path: unreadableCopy(program, elsewhere), isBesideCells: false };
  throw new WorkcellError(
    'backend-unavailable',
    `Neither ${dirname(beside)} nor ${dirname(elsewhere)} lets a program be started: both are mounted noexec. Set TMPDIR to a directory that does.`,
  );
}

const quiet = { throwIfNoEntry: false } as const;
const mostLinks = 40;

/** Where the cell would find the program; follows links as the cell would. */
function findBeneath(root: string, name: string): string | undefined {
  return (cellEnvironment.PATH as string)
    .split(':')
    .map((folder) => resolveBeneath(root, join(folder, name)))
    .find((path) => path !== undefined && versionOf(path) !== undefined);
}

function resolveBeneath(root: string, path: string): string | undefined {
  let place = '/';
  let links = 0;
  const left = path.split('/');
  for (let part = left.shift(); part !== undefined; part = left.shift()) {
    const next = resolve(place, part);
    if (lstatSync(join(root, next), quiet)?.isSymbolicLink()) {
      if (++links > mostLinks) return undefined;
      const target = readlinkSync(join(root, next));
      if (target.startsWith('/')) place = '/';
      left.unshift(...target.split('/'));
    } else place = next;
  }
  return join(root, place);
}
