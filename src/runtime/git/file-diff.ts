/** A file before and after: both whole, not a patch. */
import { posix } from 'node:path';
import { collect } from '../../base/collect.js';
import { WorkcellError } from '../../protocol/index.js';
import type { Call } from '../verb-call.js';
import { type Git, inspect, outputIfAny } from './git-command.js';
import { findBase, isRepository, resolveTree } from './revisions.js';

/** A file before and after, both whole. */
export interface FileDiff {
  /** Its current content, or null when the file no longer exists. */
  readonly modified: string | null;
  /** Its earlier content, or null when it did not exist. */
  readonly original: string | null;
}

export interface FileDiffOptions {
  /** A ref to compare the working tree with. Default: where the branch left the default branch, else the last commit. */
  readonly base?: string | undefined;
  /** Shows what this commit did instead. */
  readonly commit?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

const largestFile = 1024 * 1024;

export async function findFileDiff(
  call: Call,
  path: string,
  { base, commit, signal }: FileDiffOptions = {},
): Promise<FileDiff> {
  const directory = await nearestDirectory(call, posix.dirname(path));
  const git = await inspect(call, directory, signal);
  if (!(await isRepository(git))) return { modified: null, original: null };
  // The path is relative to the directory that git runs in.
  const name = `./${posix.relative(directory, path)}`;
  if (commit !== undefined) {
    const after = await resolveTree(git, commit);
    const before = await outputIfAny(git, ['rev-parse', '--verify', '--quiet', `${commit}^1^{tree}`]);
    return {
      modified: await readBlob(git, after, name),
      original: before === undefined ? null : await readBlob(git, before, name),
    };
  }
  const from = base === undefined ? await findBase(git) : await resolveTree(git, base);
  return { modified: await readWorkingFile(call, path), original: await readBlob(git, from, name) };
}

/** The directory of a file may no longer exist either; a directory above still leads to the repository. */
async function nearestDirectory(call: Call, path: string): Promise<string> {
  try {
    const { type } = await call.execute({ action: 'stat', path });
    if (type === 'directory' || type === 'symlink') return path;
  } catch (error) {
    const isGone =
      WorkcellError.isInstance(error) && (error.code === 'not-found' || error.code === 'not-a-directory');
    if (!isGone || path === '/') throw error;
  }
  return nearestDirectory(call, posix.dirname(path));
}

async function readBlob(git: Git, tree: string, name: string): Promise<string | null> {
  const blob = await outputIfAny(git, ['rev-parse', '--verify', '--quiet', `${tree}:${name}`]);
  if (blob === undefined) return null;
  const { exitCode, stdout, truncated } = await git(['cat-file', 'blob', blob], {
    maxOutputBytes: largestFile,
  });
  if (truncated) throw tooLarge(name);
  // An object that exists and is no blob is a directory or the commit of another repository.
  return exitCode === 0 ? stdout : null;
}

async function readWorkingFile(call: Call, path: string): Promise<string | null> {
  try {
    const { content, sizeBytes = 0 } = await call.download(path);
    if (sizeBytes > largestFile) throw tooLarge(path);
    return (await collect(content, largestFile, () => tooLarge(path))).toString('utf8');
  } catch (error) {
    if (
      WorkcellError.isInstance(error) &&
      ['not-found', 'not-a-file', 'not-a-directory'].includes(error.code)
    )
      return null;
    throw error;
  }
}

function tooLarge(path: string): WorkcellError {
  return new WorkcellError(
    'file-too-large',
    `${JSON.stringify(path)} is larger than ${largestFile} bytes, too large for a diff.`,
    { details: { path, limitBytes: largestFile } },
  );
}
