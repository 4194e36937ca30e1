/** Copies single entries between directories: content, mode and time of change. */
import { execFile } from 'node:child_process';
import {
  closeSync,
  constants,
  fchmodSync,
  futimesSync,
  lutimesSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  type Stats,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { hostProgram } from '../../base/find-program.js';
import { WorkcellError } from '../../protocol/index.js';
import { type Folder, Handle, refusal } from './layer-folder.js';
import { openEntry, unlockEntry } from './same-entry.js';

/** Copy larger files without blocking this thread. */
const atOnceBytes = 262_144;
const blockBytes = 512;

/** Copies a file or a link, and makes a pipe like another one. Directories are for the caller. */
export async function copyEntry(from: Folder, name: string, stats: Stats, to: Folder, as = name) {
  if (stats.isSymbolicLink()) {
    symlinkSync(readlinkSync(from.at(name), { encoding: 'buffer' }), to.at(as));
    lutimesSync(to.at(as), stats.atime, stats.mtime);
  } else if (stats.isFile()) await copyRegular(from, name, stats, to, as);
  else if (stats.isFIFO()) await makePipe(to, as, stats.mode & 0o777);
}

/** Made under a plain name: the argument of a program is text, and a name need not be. */
async function makePipe(to: Folder, as: string, mode: number): Promise<void> {
  const plain = `.workcell-pipe-${process.pid}`;
  const path = to.base.replace('/self/', `/${process.pid}/`);
  await promisify(execFile)(hostProgram('mkfifo'), [`${path}/${plain}`], { env: {}, cwd: '/' });
  renameSync(to.at(plain), to.at(as));
  using pipe = Handle.open(to, as);
  if (pipe?.stats.isFIFO()) pipe.mode(mode);
}

async function copyRegular(from: Folder, name: string, stats: Stats, to: Folder, as: string): Promise<void> {
  const found = { folder: from, name, stats };
  // The kernel checks the mode again for each path to the descriptor.
  using _unlocked = unlockEntry(found);
  const source = openEntry(found);
  try {
    await createFile(to, as, stats.mode, async (target) => {
      await copyContent(source, target, stats);
      futimesSync(target, stats.atime, stats.mtime);
    });
  } catch (cause) {
    throw copyFailure(refusal(name, cause));
  } finally {
    closeSync(source);
  }
}

/**
 * Makes a file and calls `fill` with its descriptor. A cell may see the directory and put something else by that name
 * meanwhile, so nothing reaches the file by its name again.
 */
export async function createFile(
  to: Folder,
  as: string,
  mode: number,
  fill: (descriptor: number) => void | Promise<void>,
): Promise<void> {
  const descriptor = openSync(to.at(as), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    await fill(descriptor);
    fchmodSync(descriptor, mode & 0o7777);
  } finally {
    closeSync(descriptor);
  }
}

/** A copy that leaves holes as holes: a file of a terabyte may hold one byte. Node cannot look for them. */
async function copyContent(source: number, target: number, { size, blocks }: Stats): Promise<void> {
  if (size <= atOnceBytes) return writeFileSync(target, readFileSync(source));
  if (blocks * blockBytes >= size / 2) {
    const [from, to] = [source, target].map((descriptor) => `/proc/self/fd/${descriptor}`) as [
      string,
      string,
    ];
    return copyFile(from, to, constants.COPYFILE_FICLONE);
  }
  const own = `/proc/${process.pid}/fd`;
  const words = ['--sparse=always', '--reflink=auto', `${own}/${source}`, `${own}/${target}`];
  await promisify(execFile)(hostProgram('cp'), words, { env: {}, cwd: '/' });
}

/** What a full disk means, in our words. Other causes come back as they are. */
export function copyFailure(cause: unknown): unknown {
  const { code } = cause as NodeJS.ErrnoException;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return cause;
  return new WorkcellError(
    'disk-full',
    'The disk is full, so the files cannot be copied. Remove checkpoints or free some space.',
    { cause },
  );
}
