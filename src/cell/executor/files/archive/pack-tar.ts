import { paced } from '../../../../base/pace.js';
import { type TarMember, writeTar } from '../../../../base/tar-writer.js';
import type { Member } from './members.js';

/** The bytes of a tar archive, made on demand. */
export function packTar(members: AsyncIterable<Member>): AsyncGenerator<Uint8Array> {
  return paced(writeTar(tarMembers(members)));
}

async function* tarMembers(members: AsyncIterable<Member>): AsyncGenerator<TarMember> {
  for await (const member of members) {
    const { name, type, stats } = member;
    const header = { name, mode: stats.mode & 0o777, mtime: stats.mtime };
    if (type === 'file') yield { ...header, size: stats.size, content: member.content() };
    else if (type === 'link') yield { ...header, type: 'symlink', linkname: member.target };
    else yield { ...header, type };
  }
}
