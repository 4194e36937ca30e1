import { constants, fchmod, lstatSync, mkdirSync, openSync, readlinkSync, symlinkSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Pace } from '../../../base/pace.js';
import { copyBytes } from './bytes.js';
import { at, type Directory, type Name } from './directory.js';
import { problem, quote } from './file-errors.js';
import { closeFile } from './free-space.js';
import { listEntries, mostNames } from './read-entries.js';
import { maxDepth } from './visit.js';

interface Spot {
  readonly directory: Directory;
  readonly name: Name;
}

const changeMode = promisify(fchmod);
const createOnly = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Copies a file, a link or a whole directory to a free name. Returns the number of files and links. What fails leaves a part
 * there, so name something that nobody looks for.
 */
export async function copyInto(
  source: Spot,
  target: Spot,
  pace: Pace,
  signal: AbortSignal | undefined,
  depth = 0,
): Promise<number> {
  await pace.step();
  const stats = lstatSync(at(source.directory, source.name));
  if (stats.isSymbolicLink()) {
    symlinkSync(readlinkSync(at(source.directory, source.name), 'buffer'), at(target.directory, target.name));
    return 1;
  }
  if (stats.isDirectory()) return copyDirectory(source, target, stats.mode, pace, signal, depth);
  if (!stats.isFile()) {
    const name = source.name.toString();
    throw problem(
      'not-a-file',
      `${quote(name)} is a pipe, socket or device, which cannot be copied. Leave it out.`,
      name,
    );
  }
  await copyFile(source, target, signal);
  return 1;
}

async function copyDirectory(
  source: Spot,
  target: Spot,
  mode: number,
  pace: Pace,
  signal: AbortSignal | undefined,
  depth: number,
): Promise<number> {
  if (depth >= maxDepth) {
    throw problem(
      'invalid-action',
      `Directories more than ${maxDepth} levels deep cannot be copied.`,
      source.name.toString(),
    );
  }
  const from = source.directory.open(source.name);
  let to: Directory | undefined;
  try {
    mkdirSync(at(target.directory, target.name), (mode & 0o777) | 0o700);
    to = target.directory.open(target.name);
    let files = 0;
    const { entries, isComplete } = await listEntries(from, pace);
    if (!isComplete) {
      const name = source.name.toString();
      throw problem('file-too-large', `The directory ${quote(name)} has more than ${mostNames} names.`, name);
    }
    for (const { name } of entries) {
      files += await copyInto({ directory: from, name }, { directory: to, name }, pace, signal, depth + 1);
    }
    return files;
  } finally {
    from.close();
    to?.close();
  }
}

async function copyFile(source: Spot, target: Spot, signal: AbortSignal | undefined): Promise<void> {
  const { fd, stats } = source.directory.openFile(source.name, constants.O_RDONLY);
  try {
    const copied = openSync(at(target.directory, target.name), createOnly, 0o600);
    try {
      await copyBytes(fd, copied, { expected: stats.size, signal });
      await changeMode(copied, stats.mode & 0o777);
    } finally {
      closeFile(copied);
    }
  } finally {
    closeFile(fd);
  }
}
