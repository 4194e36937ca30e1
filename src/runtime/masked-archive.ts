/**
 * Archives without secrets: takes members out of the executor's archive, masks them one by one and packs them again.
 */
import type { Stats } from 'node:fs';
import { readTar, TarError } from '../base/tar-reader.js';
import { unreadable } from '../cell/executor/files/archive/archive-limits.js';
import type { Member } from '../cell/executor/files/archive/members.js';
import type { ArchiveFormat } from '../protocol/index.js';
import { maskBytes } from './masked-bytes.js';
import type { Mask } from './pipeline.js';

export const archiveTypes: Readonly<Record<ArchiveFormat, string>> = {
  tar: 'application/x-tar',
  zip: 'application/zip',
};

/** `content` is a tar archive from a cell. */
export async function* maskArchive(
  content: AsyncIterable<Uint8Array>,
  format: ArchiveFormat,
  mask: Mask,
): AsyncGenerator<Uint8Array> {
  const pack =
    format === 'tar'
      ? (await import('../cell/executor/files/archive/pack-tar.js')).packTar
      : (await import('../cell/executor/files/archive/pack-zip.js')).packZip;
  yield* pack(maskedMembers(content, mask));
}

async function* maskedMembers(content: AsyncIterable<Uint8Array>, mask: Mask): AsyncGenerator<Member> {
  try {
    for await (const { name, type, size, mode, mtime, linkname, content: bytes } of readTar(content)) {
      const stats = { mode, mtime, size } as Stats;
      const shown = mask.value(withoutSlashes(name));
      if (type === 'directory') yield { type, name: shown, stats };
      else if (type === 'symlink') yield { type: 'link', name: shown, stats, target: mask.value(linkname) };
      else if (type === 'file') yield { type, name: shown, stats, content: () => maskBytes(bytes, mask) };
    }
  } catch (error) {
    if (!(error instanceof TarError)) throw error;
    throw unreadable(error);
  }
}

/** A pattern would look at every run of slashes from each of its ends. */
function withoutSlashes(name: string): string {
  let end = name.length;
  while (end > 0 && name[end - 1] === '/') end--;
  return name.slice(0, end);
}
