/** Writes a tar archive while you read it, and holds only the current member. */

/** A member to write. */
export interface TarMember {
  /** With `/` between folders. */
  readonly name: string;
  readonly type?: keyof typeof typeFlags | undefined;
  /** Permissions. Default: the usual ones of a folder or a file. */
  readonly mode?: number | undefined;
  readonly mtime?: Date | undefined;
  /** What a link leads to. */
  readonly linkname?: string | undefined;
  /** How many bytes `content` has. */
  readonly size?: number | undefined;
  readonly content?: AsyncIterable<Uint8Array> | Iterable<Uint8Array> | undefined;
}

const block = 512;
/** What twelve characters hold in octal. */
const mostOctal = 0o77777777777;
const typeFlags = {
  file: '0',
  link: '1',
  symlink: '2',
  'character-device': '3',
  directory: '5',
  fifo: '6',
} as const;

export async function* writeTar(
  members: AsyncIterable<TarMember> | Iterable<TarMember>,
): AsyncGenerator<Uint8Array> {
  for await (const member of members) {
    const { type = 'file' } = member;
    const size = type === 'file' ? (member.size ?? 0) : 0;
    const name = type === 'directory' && !member.name.endsWith('/') ? `${member.name}/` : member.name;
    yield header({ ...member, type, name }, size);
    if (type !== 'file') continue;
    let written = 0;
    for await (const piece of member.content ?? []) {
      // A file may change while we read it. Write exactly the announced size, or no reader finds the next member.
      const fitting = piece.subarray(0, size - written);
      written += fitting.length;
      if (fitting.length > 0) yield fitting;
      if (written === size) break;
    }
    if (written < size) throw new Error(`${name} has ${written} bytes and should have ${size}.`);
    yield padding(size);
  }
  yield Buffer.alloc(2 * block);
}

type Header = TarMember & { readonly type: keyof typeof typeFlags };

function header(member: Header, size: number): Buffer {
  const {
    name,
    type,
    linkname = '',
    mode = type === 'directory' ? 0o755 : 0o644,
    mtime = new Date(),
  } = member;
  const seconds = Math.max(0, Math.floor(mtime.getTime() / 1000));
  const fields = { name, linkname, mode, size, seconds, flag: typeFlags[type] };
  const records = [
    ...(fits(name, 100) ? [] : [record('path', name)]),
    ...(fits(linkname, 100) ? [] : [record('linkpath', linkname)]),
    ...(size > mostOctal ? [record('size', String(size))] : []),
  ];
  const plain = ustar(fields);
  if (records.length === 0) return plain;
  const extended = Buffer.concat(records);
  const announced = ustar({ ...fields, name: 'PaxHeader', linkname: '', size: extended.length, flag: 'x' });
  return Buffer.concat([announced, extended, padding(extended.length), plain]);
}

interface Fields {
  readonly name: string;
  readonly linkname: string;
  readonly mode: number;
  readonly size: number;
  readonly seconds: number;
  readonly flag: string;
}

function ustar({ name, linkname, mode, size, seconds, flag }: Fields): Buffer {
  const bytes = Buffer.alloc(block);
  // Longer names and links are in a record before.
  Buffer.from(name).copy(bytes, 0, 0, 100);
  octal(bytes, 100, 8, mode & 0o7777);
  octal(bytes, 108, 8, 0);
  octal(bytes, 116, 8, 0);
  octal(bytes, 124, 12, size > mostOctal ? 0 : size);
  octal(bytes, 136, 12, Math.min(seconds, mostOctal));
  bytes.fill(' ', 148, 156);
  bytes.write(flag, 156);
  Buffer.from(linkname).copy(bytes, 157, 0, 100);
  bytes.write('ustar\u000000', 257);
  octal(bytes, 329, 8, 0);
  octal(bytes, 337, 8, 0);
  const sum = bytes.reduce((total, byte) => total + byte);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\u0000 `, 148);
  return bytes;
}

function octal(bytes: Buffer, offset: number, length: number, value: number): void {
  bytes.write(value.toString(8).padStart(length - 1, '0'), offset);
}

function fits(text: string, bytes: number): boolean {
  return Buffer.byteLength(text) <= bytes;
}

/** `<length> key=value\n`, in which the length counts itself. */
function record(key: string, value: string): Buffer {
  const rest = Buffer.from(` ${key}=${value}\n`);
  let length = rest.length;
  while (length !== rest.length + String(length).length) length = rest.length + String(length).length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}

function padding(size: number): Buffer {
  return Buffer.alloc((block - (size % block)) % block);
}
