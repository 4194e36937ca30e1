import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { refused } from './limits.js';
import type { Member } from './members.js';

const symbolicLinkMode = 0o120777;

/** The bytes of a zip archive, made as they are asked for. */
export async function* packZip(members: AsyncIterable<Member>): AsyncGenerator<Uint8Array> {
  const archive = new ZipFile();
  const output = archive.outputStream as Readable;
  const state: Feeding = { current: undefined, stopped: false };
  const fail = (error: unknown) => output.destroy(error instanceof Error ? error : new Error(String(error)));
  archive.on('error', fail);
  const feeding = feed(archive, members, state).then(() => archive.end(), fail);
  try {
    yield* output as AsyncIterable<Uint8Array>;
  } finally {
    state.stopped = true;
    state.current?.destroy();
    output.destroy();
    await feeding;
  }
}

interface Feeding {
  /** The file that is being read; ends early when nobody reads the archive any more. */
  current: Readable | undefined;
  stopped: boolean;
}

async function feed(archive: ZipFile, members: AsyncIterable<Member>, state: Feeding): Promise<void> {
  for await (const member of members) {
    if (state.stopped) return;
    checkName(member.name);
    const { mtime, mode } = member.stats;
    if (member.type === 'directory') archive.addEmptyDirectory(member.name, { mtime, mode });
    else if (member.type === 'link') {
      archive.addBuffer(Buffer.from(member.target), member.name, { mtime, mode: symbolicLinkMode });
    } else {
      state.current = Readable.from(member.content());
      archive.addReadStream(state.current, member.name, { mtime, mode, size: member.stats.size });
      await finished(state.current);
    }
  }
}

/** In a zip archive a backslash separates names, so a name that has one would come out as another path. */
function checkName(member: string): void {
  if (!member.includes('\\') && !/^[a-zA-Z]:/.test(member)) return;
  throw refused('a zip archive cannot carry its name', 'Download it as a tar archive.', { member });
}
