import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { readTar, type TarEntry } from '../../../../base/tar-reader.js';
import { type Budget, refused } from './archive-limits.js';
import type { MemberReceiver as Unpacker } from './unpacker.js';

/** Unpacks a tar archive, plain or compressed with gzip, as it arrives. */
export async function unpackTar(
  chunks: AsyncGenerator<Buffer>,
  unpacker: Unpacker,
  budget: Budget,
): Promise<void> {
  for await (const entry of readTar(unpackedBytes(chunks, budget))) await unpackMember(entry, unpacker);
}

async function* unpackedBytes(chunks: AsyncGenerator<Buffer>, budget: Budget): AsyncGenerator<Buffer> {
  const { isGzip, content } = await peek(chunks);
  const source = isGzip ? pipeline(Readable.from(content), createGunzip(), () => {}) : content;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    budget.unpacked(chunk.length);
    yield chunk;
  }
}

async function unpackMember(entry: TarEntry, unpacker: Unpacker): Promise<void> {
  const { name, type, linkname, mode, content } = entry;
  if (type === 'file' || type === 'contiguous-file') await unpacker.file(name, mode, content);
  else if (type === 'directory') await unpacker.directory(name, mode);
  else if (type === 'symlink') await unpacker.symbolicLink(name, linkname);
  else if (type === 'link') await unpacker.hardLink(name, linkname);
  else
    throw refused(`it is of the type ${type}`, 'Pack only files, directories and links.', { member: name });
}

/** Looks at the first two bytes, which tell a gzip stream. */
async function peek(
  chunks: AsyncGenerator<Buffer>,
): Promise<{ isGzip: boolean; content: AsyncGenerator<Buffer> }> {
  let head = Buffer.alloc(0);
  while (head.length < 2) {
    const next = await chunks.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  const content = (async function* () {
    try {
      yield head;
      yield* chunks;
    } finally {
      // Close it even when we need only the first bytes, so that the sender learns that the rest is unwanted.
      await chunks.return(undefined);
    }
  })();
  return { isGzip: head[0] === 0x1f && head[1] === 0x8b, content };
}
