/** Copies single entries between directories: content, mode and time of change. */
import { execFile } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  linkSync,
  lutimesSync,
  openSync,
  readlinkSync,
  renameSync,
  type Stats,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { hostProgram } from '../../base/find-program.js';
import { WorkcellError } from '../../protocol/index.js';
import type { Folder } from './layer-folder.js';
import { openEntry } from './same-entry.js';

/** Copy larger files without blocking this thread. */
const atOnceBytes = 262_144;
const blockBytes = 512;

/** Copies a file, a link, or a pipe or socket by its name. Directories are for the caller. */
export async function copyEntry(from: Folder, name: string, stats: Stats, to: Folder, as = name) {
  if (stats.isSymbolicLink()) {
    symlinkSync(readlinkSync(from.at(name), { encoding: 'buffer' }), to.at(as));
    lutimesSync(to.at(as), stats.atime, stats.mtime);
  } else if (stats.isFile()) await copyRegular(from, name, stats, to, as);
  else await shareSpecial(from, name, stats, to, as);
}

/** Pipes and sockets hold nothing, so both names may be the same one. */
async function shareSpecial(from: Folder, name: string, stats: Stats, to: Folder, as: string): Promise<void> {
  try {
    linkSync(from.at(name), to.at(as));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    // On another file system, make a pipe. Nothing listens at the name of a copied socket, so leave those out.
    if (stats.isFIFO()) await makePipe(to, as, stats.mode & 0o777);
  }
}

/** Made under a plain name: the argument of a program is text, and a name need not be. */
async function makePipe(to: Folder, as: string, mode: number): Promise<void> {
  const plain = `.workcell-pipe-${process.pid}`;
  const path = to.base.replace('/self/', `/${process.pid}/`);
  const words = ['-m', mode.toString(8), `${path}/${plain}`];
  await promisify(execFile)(hostProgram('mkfifo'), words, { env: {}, cwd: '/' });
  renameSync(to.at(plain), to.at(as));
}

async function copyRegular(from: Folder, name: string, stats: Stats, to: Folder, as: string): Promise<void> {
  const source = openEntry({ folder: from, name, stats });
  try {
    const path = `/proc/self/fd/${source}`;
    const target = to.at(as);
    const isSparse = stats.size > atOnceBytes && stats.blocks * blockBytes < stats.size / 2;
    if (isSparse) await copySparse(source, to, as);
    else if (stats.size > atOnceBytes)
      await copyFile(path, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    else copyFileSync(path, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    chmodSync(target, stats.mode & 0o7777);
    utimesSync(target, stats.atime, stats.mtime);
  } catch (cause) {
    throw copyFailure(cause);
  } finally {
    closeSync(source);
  }
}

/** A copy that leaves holes as holes: a file of a terabyte may hold one byte. Node cannot look for them. */
async function copySparse(source: number, to: Folder, as: string): Promise<void> {
  const staged = openSync(to.at(as), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    const own = `/proc/${process.pid}/fd`;
    const words = ['--sparse=always', '--reflink=auto', `${own}/${source}`, `${own}/${staged}`];
    await promisify(execFile)(hostProgram('cp'), words, { env: {}, cwd: '/' });
  } finally {
    closeSync(staged);
  }
}

function copyFailure(cause: unknown): unknown {
  const { code } = cause as NodeJS.ErrnoException;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return cause;
  return new WorkcellError(
    'disk-full',
    'The disk is full, so the files cannot be copied. Remove checkpoints or free some space.',
    { cause },
  );
}
