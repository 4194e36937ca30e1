/** Copies files and directories between this machine and a cell. What comes out of a cell cannot leave its target. */
import { lstatSync, mkdirSync, type Stats, statSync } from 'node:fs';
import { posix, resolve } from 'node:path';
import { download } from '../cell/executor/files/download-files.js';
import { explained, isErrno, problem, quote } from '../cell/executor/files/file-errors.js';
import { Tree } from '../cell/executor/files/file-tree.js';
import { upload } from '../cell/executor/files/upload-files.js';
import type { Runtime } from '../index.js';
import { type Uploaded, WorkcellError } from '../protocol/index.js';

/** How it is watched and cancelled. `onBytes` gets what has passed so far, and the whole where that is known. */
export interface Copying {
  readonly signal: AbortSignal;
  readonly onBytes: (done: number, whole: number | undefined) => void;
}

/** As `cp -r` has it: a directory as target gets the source below it. */
export async function copyIn(
  runtime: Runtime,
  from: string,
  to: string,
  { signal, onBytes }: Copying,
): Promise<Uploaded> {
  const source = resolve(from);
  const stats = statHere(source);
  if (stats === undefined) throw missing(from);
  const target = await insideTarget(runtime, to, lastName(from));
  const tree = localTree('/');
  try {
    const format = stats.isDirectory() ? 'tar' : undefined;
    const { content } = await download(tree, source, { format, signal });
    const counted = count(content, format === undefined ? stats.size : undefined, onBytes);
    return await runtime.files.upload(counted, target, { format, mode: stats.mode & 0o777, signal });
  } finally {
    await tree.close();
  }
}

export async function copyOut(
  runtime: Runtime,
  from: string,
  to: string,
  { signal, onBytes }: Copying,
): Promise<Uploaded> {
  const { type, mode } = await runtime.files.stat(from);
  const target = outsideTarget(to, lastName(from));
  const isDirectory = type === 'directory';
  const sent = await runtime.files.download(from, { ...(isDirectory && { format: 'tar' }), signal });
  const content = count(sent.content, sent.sizeBytes, onBytes);
  if (isDirectory) makeDirectory(target);
  const tree = localTree(isDirectory ? target : posix.dirname(target));
  try {
    return isDirectory
      ? await upload(tree, '.', content, { format: 'tar', signal })
      : await upload(tree, posix.basename(target), content, { mode: mode & 0o777, signal });
  } finally {
    await tree.close();
  }
}

async function* count(
  content: AsyncIterable<Uint8Array>,
  whole: number | undefined,
  onBytes: Copying['onBytes'],
): AsyncGenerator<Uint8Array> {
  let done = 0;
  for await (const chunk of content) {
    done += chunk.length;
    onBytes(done, whole);
    yield chunk;
  }
}

async function insideTarget(runtime: Runtime, to: string, name: string): Promise<string> {
  const path = to === '' ? '.' : to;
  if (path.endsWith('/')) return posix.join(path, name);
  const isDirectory =
    (await runtime.files.exists(path)) && (await runtime.files.stat(path)).type === 'directory';
  return isDirectory ? posix.join(path, name) : path;
}

function outsideTarget(to: string, name: string): string {
  const path = resolve(to);
  const target = to.endsWith('/') || statHere(path)?.isDirectory() ? posix.join(path, name) : path;
  statHere(target);
  return target;
}

/** Follows links, and refuses one that leads to nothing: what it names may be where nobody expects the copy. */
function statHere(path: string): Stats | undefined {
  return explained('use', path, () => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined && lstatSync(path, { throwIfNoEntry: false }) !== undefined) {
      throw problem(
        'not-found',
        `${quote(path)} is a symbolic link to nothing. Remove it, or make what it names.`,
        path,
      );
    }
    return stats;
  });
}

function makeDirectory(path: string): void {
  explained('make', path, () => {
    try {
      mkdirSync(path, { recursive: true });
    } catch (error) {
      if (!isErrno(error, 'EEXIST')) throw error;
      throw problem(
        'not-a-directory',
        `Cannot copy a directory to ${quote(path)}: something else has that name. Remove it, or choose another name.`,
        path,
      );
    }
  });
}

/** Taken from what the person typed: a cell may report any path. Without a name, the content goes into the target. */
function lastName(path: string): string {
  const name = posix.basename(path);
  return name === '..' ? '.' : name;
}

function localTree(root: string): Tree {
  return new Tree({ root, mount: '/', workspace: '/' });
}

function missing(path: string): WorkcellError {
  return new WorkcellError('not-found', `There is no ${path} on this machine.`, { details: { path } });
}
