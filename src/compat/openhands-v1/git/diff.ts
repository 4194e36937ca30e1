/** A file as it was and as it is: both whole, not a patch. */
import { posix } from 'node:path';
import { type Executor, WorkcellError } from '../../../protocol/index.js';
import { Refusal } from '../errors.js';
import { type Git, gitIn, outputIfAny } from './git.js';
import { findBase, isRepository, resolveRef } from './revisions.js';

export interface GitDiff {
  readonly modified: string | null;
  readonly original: string | null;
}

const largestFile = 1024 * 1024;

export async function findDiff(
  executor: Executor,
  path: string,
  { ref, commit }: { ref?: string | undefined; commit?: string | undefined },
): Promise<GitDiff> {
  const directory = await nearestDirectory(executor, posix.dirname(path));
  const git = gitIn(executor, directory);
  if (!(await isRepository(git))) return { modified: null, original: null };
  // The name is told from the directory that git runs in.
  const name = `./${posix.relative(directory, path)}`;
  if (commit !== undefined) {
    const after = await resolveRef(git, commit);
    const before = await outputIfAny(git, ['rev-parse', '--verify', '--quiet', `${commit}^1^{tree}`]);
    return {
      modified: await readBlob(git, after, name),
      original: before === undefined ? null : await readBlob(git, before, name),
    };
  }
  const base = ref === undefined ? await findBase(git) : await resolveRef(git, ref);
  return { modified: await readWorkingFile(executor, path), original: await readBlob(git, base, name) };
}

/** A file may be gone together with its directory; what is left above it still knows the repository. */
async function nearestDirectory(executor: Executor, path: string): Promise<string> {
  try {
    const { type } = await executor.execute<'stat'>({ action: 'stat', path });
    if (type === 'directory' || type === 'symlink') return path;
  } catch (error) {
    const isGone =
      WorkcellError.isInstance(error) && (error.code === 'not-found' || error.code === 'not-a-directory');
    if (!isGone || path === '/') throw error;
  }
  return nearestDirectory(executor, posix.dirname(path));
}

async function readBlob(git: Git, tree: string, name: string): Promise<string | null> {
  const blob = await outputIfAny(git, ['rev-parse', '--verify', '--quiet', `${tree}:${name}`]);
  if (blob === undefined) return null;
  const { exitCode, stdout, truncated } = await git(['cat-file', 'blob', blob], {
    maxOutputBytes: largestFile,
  });
  if (truncated) throw tooLarge(name);
  // What is there and no blob is a directory or the commit of another repository.
  return exitCode === 0 ? stdout : null;
}

async function readWorkingFile(executor: Executor, path: string): Promise<string | null> {
  try {
    const { content, sizeBytes = 0 } = await executor.download(path);
    if (sizeBytes > largestFile) throw tooLarge(path);
    const pieces: Uint8Array[] = [];
    for await (const piece of content) pieces.push(piece);
    return Buffer.concat(pieces).toString('utf8');
  } catch (error) {
    if (
      WorkcellError.isInstance(error) &&
      ['not-found', 'not-a-file', 'not-a-directory'].includes(error.code)
    )
      return null;
    throw error;
  }
}

function tooLarge(path: string): Refusal {
  return new Refusal(
    400,
    `${JSON.stringify(path)} is larger than ${largestFile} bytes, too large for a diff.`,
  );
}
