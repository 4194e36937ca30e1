/** Takes bytes from outside into the cell: as one file, or as an archive to unpack. */

import { checkCancelled } from '../../../base/pace.js';
import type { Uploaded, UploadOptions } from '../../../protocol/index.js';
import { type ArchiveLimits, defaultArchiveLimits } from './archive/archive-limits.js';
import { explained } from './file-errors.js';
import type { Tree } from './file-tree.js';
import { NewFile } from './new-file.js';
import { checkReplaceable, modeOf, resolveTarget } from './write-file.js';

export function upload(
  tree: Tree,
  path: string,
  content: AsyncIterable<Uint8Array>,
  options: UploadOptions,
  limits: ArchiveLimits = defaultArchiveLimits,
): Promise<Uploaded> {
  if (options.format === undefined)
    return explained('upload to', path, () => uploadFile(tree, path, content, options));
  return explained('unpack into', path, async () => {
    const { unpack } = await import('./archive/unpack.js');
    return unpack(tree, path, content, { ...options, format: options.format ?? 'tar', limits });
  });
}

/** The file appears when its last byte has arrived; until then nobody sees any of it. */
async function uploadFile(
  tree: Tree,
  path: string,
  content: AsyncIterable<Uint8Array>,
  { mode, signal }: UploadOptions,
): Promise<Uploaded> {
  checkCancelled(signal);
  using place = resolveTarget(tree, path);
  const replaced = checkReplaceable(place);
  await using file = new NewFile(place.directory);
  let sizeBytes = 0;
  for await (const chunk of content) {
    checkCancelled(signal);
    await file.writeLong(chunk);
    sizeBytes += chunk.length;
  }
  checkCancelled(signal);
  const options = { mode: mode === undefined ? modeOf(replaced) : mode & 0o777, replaced };
  await tree.inOrder(() => file.commit(place.name, options));
  return { path: place.path, files: 1, sizeBytes };
}
