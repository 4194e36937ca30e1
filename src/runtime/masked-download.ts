/** Downloads without secrets: whole files, ranges of them, and archives, which we repack on this side. */
import type { Downloaded, DownloadOptions, Executor } from '../protocol/index.js';
import { maskBytes } from './masked-bytes.js';
import type { Mask } from './pipeline.js';

export async function downloadMasked(
  executor: Executor,
  path: string,
  options: DownloadOptions,
  mask: Mask,
): Promise<Downloaded> {
  const { format, start, end } = options;
  if (format !== undefined) {
    // We cannot search compressed bytes, so ask the executor for an uncompressed archive.
    const { content } = await executor.download(path, { ...options, format: 'tar' });
    const { archiveTypes, maskArchive } = await import('./masked-archive.js');
    return { mediaType: archiveTypes[format], content: maskArchive(content, format, mask) };
  }
  if (start === undefined && end === undefined) {
    const whole = await executor.download(path, options);
    return { ...whole, content: maskBytes(whole.content, mask) };
  }
  return downloadRange(executor, path, options, mask);
}

/** Reads as much around the range as a secret can take, so that no range cuts a secret into harmless halves. */
async function downloadRange(
  executor: Executor,
  path: string,
  options: DownloadOptions,
  mask: Mask,
): Promise<Downloaded> {
  const { start = 0, end = Number.MAX_SAFE_INTEGER - 1 } = options;
  const isRange = Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && start <= end + 1;
  // The executor refuses an invalid range.
  if (!isRange) return executor.download(path, options);
  const from = Math.max(0, start - mask.reach);
  const to = Math.min(end + mask.reach, Number.MAX_SAFE_INTEGER - 1);
  const wide = await executor.download(path, { ...options, start: from, end: to });
  if (start > (wide.sizeBytes ?? start)) {
    await wide.content[Symbol.asyncIterator]().return?.();
    return executor.download(path, options);
  }
  return { ...wide, content: cut(maskBytes(wide.content, mask), start - from, end + 1 - start) };
}

/** `length` bytes after the first `skipped` ones. Stops reading the source when it has them. */
async function* cut(
  content: AsyncIterable<Uint8Array>,
  skipped: number,
  length: number,
): AsyncGenerator<Uint8Array> {
  let position = -skipped;
  for await (const chunk of content) {
    const piece = chunk.subarray(Math.max(0, -position), Math.max(0, length - position));
    position += chunk.length;
    if (piece.length > 0) yield piece;
    if (position >= length) return;
  }
}
