/** Archives that show no secret: members are taken out of the executor's archive, masked one by one and packed again. */
import type { Stats } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract } from 'tar-stream';
import type { Member } from '../cell/executor/files/archive/members.js';
import { type ArchiveFormat, WorkcellError } from '../protocol/index.js';
import { maskBytes } from './masked-bytes.js';
import type { Mask } from './pipeline.js';

export const archiveTypes: Readonly<Record<ArchiveFormat, string>> = {
  tar: 'application/x-tar',
  zip: 'application/zip',
};

/** The reader keeps long names in memory; a cell must not choose how much. */
const longestHeader = 8 * 1024 * 1024;

/** `content` is a tar archive as it came out of a cell. */
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
  const progress = { bytes: 0 };
  const source = Readable.from(bounded(content, progress), { objectMode: false });
  const unpacked = extract();
  const feeding = pipeline(source, unpacked as unknown as NodeJS.WritableStream);
  // The loop below ends when this fails, and tells.
  feeding.catch(() => {});
  try {
    for await (const entry of unpacked) {
      progress.bytes = 0;
      const { name, type, size = 0, mode = 0o644, mtime = new Date(0), linkname } = entry.header;
      const stats = { mode, mtime, size } as Stats;
      const shown = mask.value(name.replace(/\/+$/, ''));
      if (type === 'directory') yield { type, name: shown, stats };
      else if (type === 'symlink')
        yield { type: 'link', name: shown, stats, target: mask.value(linkname ?? '') };
      else if (type === 'file') {
        const bytes = reported(entry as AsyncIterable<Uint8Array>, progress);
        yield { type, name: shown, stats, content: () => maskBytes(bytes, mask) };
        continue;
      }
      entry.resume();
    }
    await feeding;
  } finally {
    source.destroy();
  }
}

interface Progress {
  /** Read since something was last given on. */
  bytes: number;
}

async function* bounded(content: AsyncIterable<Uint8Array>, progress: Progress): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    progress.bytes += chunk.length;
    if (progress.bytes > longestHeader + chunk.length)
      throw new WorkcellError('archive-refused', 'The cell sent an archive with a header that does not end.');
    yield chunk;
  }
}

async function* reported(content: AsyncIterable<Uint8Array>, progress: Progress): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    progress.bytes = 0;
    yield chunk;
  }
}
