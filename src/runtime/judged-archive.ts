/**
 * Knows what an archive would write before it writes any of it: keeps the archive on this side and reads it as it will
 * unpack.
 */
import { createHash } from 'node:crypto';
import { close, read as readFrom } from 'node:fs';
import { promisify } from 'node:util';
import { Budget, defaultArchiveLimits, unreadable } from '../cell/executor/files/archive/archive-limits.js';
import { MemberNames } from '../cell/executor/files/archive/member-names.js';
import { unpackTar } from '../cell/executor/files/archive/unpack-tar.js';
import { openSpool, unpackZip } from '../cell/executor/files/archive/unpack-zip.js';
import type { MemberReceiver } from '../cell/executor/files/archive/unpacker.js';
import { writeLong } from '../cell/executor/files/bytes.js';
import type { ArchiveFormat } from '../protocol/index.js';

const readAt = promisify(readFrom);
const pieceSize = 65_536;

export interface KeptArchive extends Disposable {
  /** The paths in it, as written there. */
  readonly members: readonly string[];
  readonly sha256: string;
  readonly content: AsyncIterable<Uint8Array>;
}

/** Fails as unpacking would, before it writes anything. */
export async function keepArchive(
  content: AsyncIterable<Uint8Array>,
  format: ArchiveFormat,
): Promise<KeptArchive> {
  const fd = openSpool();
  const release = () => close(fd, () => {});
  try {
    const hash = createHash('sha256');
    const budget = new Budget(defaultArchiveLimits);
    for await (const chunk of content) {
      budget.packed(chunk.length);
      hash.update(chunk);
      await writeLong(fd, chunk);
    }
    const members = await membersOf(read(fd), format, budget);
    return { members, sha256: hash.digest('hex'), content: read(fd), [Symbol.dispose]: release };
  } catch (error) {
    release();
    throw unreadable(error);
  }
}

async function membersOf(
  chunks: AsyncGenerator<Buffer>,
  format: ArchiveFormat,
  budget: Budget,
): Promise<string[]> {
  const members: string[] = [];
  const names = new MemberNames();
  const note = (member: string) => {
    budget.entry();
    members.push(member);
  };
  const lister: MemberReceiver = {
    async directory(member) {
      names.directory(member);
      note(member);
    },
    async symbolicLink(member, target) {
      names.symbolicLink(member, target);
      note(member);
    },
    async hardLink(member, target) {
      names.hardLink(member, target);
      note(member);
    },
    async file(member, _mode, content) {
      names.file(member);
      note(member);
      for await (const _ of content);
    },
  };
  if (format === 'zip') await unpackZip(chunks, lister, budget);
  else await unpackTar(chunks, lister, budget);
  return members;
}

/** A stream would read ahead, and its pending read would find the file closed when we refuse an archive early. */
async function* read(fd: number): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await readAt(fd, Buffer.allocUnsafe(pieceSize), 0, pieceSize, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
