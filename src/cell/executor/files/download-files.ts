/** Streams the cell's files out: one file, or a directory as an archive. */
import { constants, type Stats } from 'node:fs';
import {
  type ArchiveFormat,
  type Downloaded,
  type DownloadOptions,
  WorkcellError,
} from '../../../protocol/index.js';
import { readPieces, readWhole } from './bytes.js';
import { explained, fileError, quote, refusal } from './file-errors.js';
import type { Tree } from './file-tree.js';
import { closeFile } from './free-space.js';
import { mediaTypeOf } from './media-type.js';
import { detectEncoding } from './text-encoding.js';

const headBytes = 4096;
const archiveTypes: Readonly<Record<ArchiveFormat, string>> = {
  tar: 'application/x-tar',
  zip: 'application/zip',
};

/** Keeps nothing open for a download whose content nobody reads. */
export function download(tree: Tree, path: string, options: DownloadOptions): Promise<Downloaded> {
  return explained('download', path, async () => {
    return options.format === undefined
      ? downloadFile(tree, path, options)
      : downloadArchive(tree, path, options.format, options.signal);
  });
}

function downloadFile(tree: Tree, path: string, options: DownloadOptions): Downloaded {
  const { fd, stats, path: inside } = tree.openFile(path, constants.O_RDONLY);
  try {
    const head = readWhole(fd, Math.min(stats.size, headBytes), headBytes);
    // The head may end within a character, so leave out the rest of a cut one.
    const encoding = detectEncoding(head.subarray(0, wholeCharacters(head, stats.size)));
    const { start, end } = rangeOf(path, stats.size, options);
    return {
      mediaType: mediaTypeOf(inside, head, encoding !== undefined && encoding !== 'latin1'),
      sizeBytes: stats.size,
      version: versionOf(stats),
      content: fileContent(tree, path, stats, { start, end, signal: options.signal }),
    };
  } finally {
    closeFile(fd);
  }
}

async function* fileContent(
  tree: Tree,
  path: string,
  expected: Stats,
  range: { start: number; end: number; signal: AbortSignal | undefined },
): AsyncGenerator<Uint8Array> {
  const { fd, stats } = explained('download', path, () => tree.openFile(path, constants.O_RDONLY));
  try {
    let missing = range.end - range.start;
    if (stats.ino !== expected.ino || stats.dev !== expected.dev) throw refusal('SWAPPED');
    for await (const piece of readPieces(fd, range)) {
      missing -= piece.length;
      yield piece;
    }
    if (missing > 0) {
      throw new WorkcellError(
        'file-changed',
        `${quote(path)} became shorter during the download. Download it again.`,
      );
    }
  } catch (error) {
    throw fileError(error, 'download', path);
  } finally {
    closeFile(fd);
  }
}

function versionOf({ ino, size, mtimeMs, ctimeMs }: Stats): string {
  return [ino, size, mtimeMs, ctimeMs].map((part) => part.toString(36)).join('-');
}

function rangeOf(
  path: string,
  size: number,
  { start = 0, end = size - 1 }: DownloadOptions,
): { start: number; end: number } {
  const stop = Math.min(end + 1, size);
  if (Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= stop)
    return { start, end: stop };
  throw new WorkcellError(
    'invalid-action',
    `Cannot download bytes ${start} to ${end} of ${quote(path)}: it has ${size} bytes. Use a range within them.`,
    { details: { path, start, end, sizeBytes: size } },
  );
}

function downloadArchive(
  tree: Tree,
  path: string,
  format: ArchiveFormat,
  signal: AbortSignal | undefined,
): Downloaded {
  using place = tree.resolve(path, { follow: true });
  if (place.name !== '.' && place.stats === undefined) throw refusal('ENOENT');
  if (place.stats !== undefined && !place.stats.isDirectory() && !place.stats.isFile())
    throw refusal('ENXIO');
  return { mediaType: archiveTypes[format], content: archiveContent(tree, path, format, signal) };
}

async function* archiveContent(
  tree: Tree,
  path: string,
  format: ArchiveFormat,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const { members } = await import('./archive/members.js');
  const packing =
    format === 'tar'
      ? (await import('./archive/pack-tar.js')).packTar
      : (await import('./archive/pack-zip.js')).packZip;
  try {
    yield* packing(members(tree, path, signal));
  } catch (error) {
    throw fileError(error, 'download', path);
  }
}

function wholeCharacters(head: Buffer, size: number): number {
  if (size <= head.length) return head.length;
  let length = head.length;
  while (length > head.length - 4 && ((head[length - 1] ?? 0) & 0xc0) === 0x80) length--;
  return length - 1;
}
