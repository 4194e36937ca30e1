import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Pack, pack } from 'tar-stream';
import type { Member } from './members.js';

/** The bytes of a tar archive, made as they are asked for. */
export async function* packTar(members: AsyncIterable<Member>): AsyncGenerator<Uint8Array> {
  const archive = pack();
  const feeding = feed(archive, members).then(
    () => archive.finalize(),
    (error: unknown) => archive.destroy(error instanceof Error ? error : new Error(String(error))),
  );
  try {
    yield* archive as AsyncIterable<Uint8Array>;
  } finally {
    archive.destroy();
    await feeding;
  }
}

async function feed(archive: Pack, members: AsyncIterable<Member>): Promise<void> {
  for await (const member of members) {
    if (archive.destroyed) return;
    const header = { name: member.name, mode: member.stats.mode & 0o777, mtime: member.stats.mtime };
    if (member.type === 'file') {
      const entry = archive.entry({ ...header, size: member.stats.size });
      await pipeline(Readable.from(member.content()), entry as unknown as NodeJS.WritableStream);
    } else if (member.type === 'link') {
      archive.entry({ ...header, type: 'symlink', linkname: member.target });
    } else {
      archive.entry({ ...header, type: 'directory', name: `${member.name}/` });
    }
  }
}
