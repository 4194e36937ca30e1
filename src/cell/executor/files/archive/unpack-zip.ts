import { openSync } from 'node:fs';
import { join } from 'node:path';
import { type Entry, fromFdPromise, type ZipFile } from 'yauzl';
import { removeTree } from '../../../../base/remove-tree.js';
import { makeScratch } from '../../../launchers/scratch.js';
import { writeLong } from '../bytes.js';
import { closeFile } from '../free-space.js';
import { type Budget, refused } from './archive-limits.js';
import type { MemberReceiver } from './unpacker.js';

const maxTargetBytes = 4096;
const typeBits = 0o170000;
const regular = 0o100000;
const directory = 0o040000;
const symbolicLink = 0o120000;

/** Unpacks a zip archive. Its table of contents comes last, so keep it whole on this side first. */
export async function unpackZip(
  chunks: AsyncIterable<Buffer>,
  unpacker: MemberReceiver,
  budget: Budget,
): Promise<void> {
  const fd = openSpool();
  try {
    for await (const chunk of chunks) await writeLong(fd, chunk);
    const options = { lazyEntries: true, autoClose: false, strictFileNames: true, validateEntrySizes: true };
    const archive = await fromFdPromise(fd, options);
    for await (const entry of archive.eachEntry()) await unpackMember(archive, entry, unpacker, budget);
  } finally {
    closeFile(fd);
  }
}

/** A file without a name leaves nothing behind, even after a crash. */
export function openSpool(): number {
  const scratch = makeScratch('zip');
  try {
    return openSync(join(scratch, 'archive'), 'wx+', 0o600);
  } finally {
    removeTree(scratch);
  }
}

async function unpackMember(
  archive: ZipFile,
  entry: Entry,
  unpacker: MemberReceiver,
  budget: Budget,
): Promise<void> {
  const member = entry.fileName;
  // The upper half holds the mode where the archive comes from Unix.
  const mode = entry.externalFileAttributes >>> 16;
  const type = mode & typeBits;
  if (member.endsWith('/') || type === directory) return unpacker.directory(member, mode || undefined);
  if (entry.isEncrypted()) throw refused('it is encrypted', 'Pack it without a password.', { member });
  if (type !== 0 && type !== regular && type !== symbolicLink) {
    throw refused('it is a device, socket or pipe', 'Pack only files, directories and links.', { member });
  }
  const stream = await archive.openReadStreamPromise(entry);
  try {
    const content = counted(stream, budget);
    if (type === symbolicLink) await unpacker.symbolicLink(member, await readTarget(content, member));
    else await unpacker.file(member, mode, content);
  } finally {
    stream.destroy();
  }
}

async function* counted(stream: AsyncIterable<Buffer>, budget: Budget): AsyncGenerator<Buffer> {
  for await (const chunk of stream) {
    budget.unpacked(chunk.length);
    yield chunk;
  }
}

async function readTarget(content: AsyncIterable<Buffer>, member: string): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of content) {
    length += chunk.length;
    if (length > maxTargetBytes)
      throw refused('its link target is too long', 'Pack it without the link.', { member });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
