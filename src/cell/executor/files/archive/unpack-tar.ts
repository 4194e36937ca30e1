import { pipeline, Readable } from 'node:stream';
import { pipeline as pipelineDone } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { type Entry, extract } from 'tar-stream';
import { type Budget, refused } from './archive-limits.js';
import type { MemberReceiver as Unpacker } from './unpacker.js';

/** Unpacks a tar archive, plain or compressed with gzip, as it arrives. */
export async function unpackTar(
  chunks: AsyncGenerator<Buffer>,
  unpacker: Unpacker,
  budget: Budget,
): Promise<void> {
  const archive = extract();
  const source = Readable.from(unpackedBytes(chunks, budget));
  let failure: unknown;
  const feeding = pipelineDone(source, archive as unknown as NodeJS.WritableStream).catch(
    (error: unknown) => {
      failure = error;
    },
  );
  try {
    for await (const entry of archive) await unpackMember(entry, unpacker);
  } finally {
    // A member that is refused ends the archive; what still arrives is not waited for.
    source.destroy();
    await feeding;
  }
  if (failure !== undefined) throw failure;
}

async function* unpackedBytes(chunks: AsyncGenerator<Buffer>, budget: Budget): AsyncGenerator<Buffer> {
  const { isGzip, content } = await peek(chunks);
  const source = isGzip ? pipeline(Readable.from(content), createGunzip(), () => {}) : content;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    budget.unpacked(chunk.length);
    yield chunk;
  }
}

async function unpackMember(entry: Entry, unpacker: Unpacker): Promise<void> {
  const { name, type, linkname, mode } = entry.header;
  if (type === 'file' || type === 'contiguous-file')
    return unpacker.file(name, mode, entry as AsyncIterable<Uint8Array>);
  if (type === 'directory') unpacker.directory(name, mode);
  else if (type === 'symlink') unpacker.symbolicLink(name, linkname ?? '');
  else if (type === 'link') unpacker.hardLink(name, linkname ?? '');
  else
    throw refused(`it is of the type ${type ?? 'unknown'}`, 'Pack only files, directories and links.', {
      member: name,
    });
  entry.resume();
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
    yield head;
    yield* chunks;
  })();
  return { isGzip: head[0] === 0x1f && head[1] === 0x8b, content };
}
