/** The control directory of a cell, with the programs in it that other programs of the cell may not look into. */
import { linkSync, lstatSync, mkdirSync, readlinkSync, type Stats, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { WorkcellError } from '../../../protocol/index.js';
import { makeFleeting, makeScratch } from '../scratch.js';
import { permitsExecution, unreadableCopy } from '../unreadable.js';
import { cellEnvironment, controlDirectory, controlInside } from './layout.js';

export interface Control {
  /** As this side sees it. */
  readonly path: string;
  /** What bubblewrap is to mount in it. */
  readonly mounts: readonly string[];
}

/** Without `script` a cell has one terminal only, which is told to whoever asks for another. */
const programs = ['bash', 'script'] as const;

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

const copies = new Map<string, Copy>();

/** Copied once for all cells of this process. */
function copyOf(name: string, root: string): Copy | undefined {
  const found = findBeneath(root, name);
  if (found === undefined) return undefined;
  const { path, stats } = found;
  const version = [path, stats.ino, stats.size, stats.mtimeMs].join();
  let copy = copies.get(version);
  if (copy === undefined || lstatSync(copy.path, quiet) === undefined) {
    copy = makeCopy(path);
    copies.set(version, copy);
  }
  return copy;
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

/** Where the cell would find the program; links are followed as the cell would follow them. */
function findBeneath(root: string, name: string): { path: string; stats: Stats } | undefined {
  for (const folder of (cellEnvironment.PATH as string).split(':')) {
    const path = resolveBeneath(root, join(folder, name));
    const stats = path === undefined ? undefined : lstatSync(path, quiet);
    if (path !== undefined && stats?.isFile() && (stats.mode & 0o111) !== 0) return { path, stats };
  }
  return undefined;
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
