import { paced } from '../../../../base/pace.js';
import { writeZip, type ZipMember } from '../../../../base/zip-writer.js';
import { refused } from './archive-limits.js';
import type { Member } from './members.js';

const symbolicLinkMode = 0o120777;

/** Above it the sizes of a member may need more than 32 bits, also when compressing makes it longer. */
const largeBytes = 0xf000_0000;

/** The bytes of a zip archive, made on demand. */
export function packZip(members: AsyncIterable<Member>): AsyncGenerator<Uint8Array> {
  return paced(writeZip(asZipMembers(members)));
}

async function* asZipMembers(members: AsyncIterable<Member>): AsyncGenerator<ZipMember> {
  for await (const member of members) {
    const { name } = member;
    checkName(name);
    const { mtime, mode, size } = member.stats;
    if (member.type === 'directory') yield { name: `${name}/`, mtime, mode };
    else if (member.type === 'link')
      yield { name, mtime, mode: symbolicLinkMode, content: once(Buffer.from(member.target)) };
    else yield { name, mtime, mode, content: member.content(), isLarge: size >= largeBytes };
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** In a zip archive a backslash separates names, so a name that has one would come out as another path. */
function checkName(member: string): void {
  if (!member.includes('\\') && !/^[a-zA-Z]:/.test(member)) return;
  throw refused('a zip archive cannot carry its name', 'Download it as a tar archive.', { member });
}
