/** Everything below a path as a zip archive of files, for `/download_files`. */
import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { writeZip, type ZipMember } from '../../../base/zip-writer.js';
import type { Executor } from '../../../protocol/index.js';
import { HttpError } from '../http-error.js';
import { words } from '../openhands-words.js';
import { perform } from '../perform-action.js';
import { kindOf } from './path-kind.js';

/** Creates the archive while the client reads it: stored, names relative to the path, without directories. */
export async function downloadZip(executor: Executor, path: string): Promise<Readable> {
  if (!path.startsWith('/')) throw new HttpError(400, words('transfer.relative_path'));
  const kind = await kindOf(executor, path);
  if (kind === 'missing') throw new HttpError(404, words('transfer.missing', { path }));
  const names = kind === 'file' ? [''] : await filesBelow(executor, path);
  return Readable.from(writeZip(filesOf(executor, path, names), { compress: false }), { objectMode: false });
}

async function filesBelow(executor: Executor, path: string): Promise<string[]> {
  const { entries, truncated } = await perform(executor, { action: 'list', path, depth: 64, limit: 100_000 });
  if (truncated) throw new HttpError(413, words('transfer.too_many', { path }));
  const names: string[] = [];
  for (const entry of entries) {
    const isFile =
      entry.type === 'file' || (entry.type === 'symlink' && (await kindOf(executor, entry.path)) === 'file');
    if (isFile) names.push(posix.relative(path, entry.path));
  }
  return names;
}

/** One file after the other, opened when its turn comes. */
async function* filesOf(
  executor: Executor,
  path: string,
  names: readonly string[],
): AsyncGenerator<ZipMember> {
  for (const name of names) {
    const { content } = await executor.download(posix.join(path, name));
    yield { name: name || posix.basename(path), content };
  }
}
