/** Writes a zip archive while you read it, and holds only the list of its members. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createDeflateRaw, deflateRawSync } from 'node:zlib';

/** A member to write. */
export interface ZipMember {
  /** With `/` between folders, and at the end of a folder. */
  readonly name: string;
  readonly mtime?: Date | undefined;
  /** Kind and permissions, as `stat` has them. */
  readonly mode?: number | undefined;
  /** None for a folder. */
  readonly content?: AsyncIterable<Uint8Array> | undefined;
  /** Set it when the content may have 4 GiB or more: such members need another form. */
  readonly isLarge?: boolean | undefined;
}

/** A written member, as the list at the end describes it. */
interface Written {
  readonly name: Buffer;
  readonly method: number;
  readonly time: number;
  readonly mode: number;
  readonly crc: number;
  readonly packedBytes: number;
  readonly sizeBytes: number;
  readonly offset: number;
}

const stored = 0;
const deflated = 8;
/** Sizes follow the content, and names are UTF-8. */
const flags = 0x0808;
const most32 = 0xffff_ffff;
const most16 = 0xffff;
/** The version that knows sizes of 64 bits. */
const version = 45;
const madeOnUnix = 3 << 8;
const plainFile = 0o100644;

export async function* writeZip(
  members: AsyncIterable<ZipMember>,
  { compress = true }: { compress?: boolean } = {},
): AsyncGenerator<Uint8Array> {
  const list: Written[] = [];
  let offset = 0;
  for await (const member of members) {
    const name = Buffer.from(member.name);
    const method = compress && member.content !== undefined ? deflated : stored;
    const time = dosTime(member.mtime ?? new Date());
    const isLarge = member.isLarge ?? false;
    const header = localHeader(name, method, time, isLarge);
    yield header;
    const sums = { crc: 0, sizeBytes: 0, packedBytes: 0 };
    const content = counted(member.content ?? [], sums);
    for await (const piece of method === deflated ? deflate(content) : content) {
      sums.packedBytes += piece.length;
      yield piece;
    }
    if (!isLarge && Math.max(sums.sizeBytes, sums.packedBytes) >= most32)
      throw new Error(`"${member.name}" is too large for its place in a zip archive.`);
    const descriptor = dataDescriptor(sums, isLarge);
    yield descriptor;
    list.push({ name, method, time, mode: member.mode ?? plainFile, offset, ...sums });
    offset += header.length + sums.packedBytes + descriptor.length;
  }
  const start = offset;
  for (const entry of list) {
    const line = centralHeader(entry);
    yield line;
    offset += line.length;
  }
  yield endOfArchive(list.length, offset - start, start);
}

async function* counted(
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  sums: { crc: number; sizeBytes: number },
): AsyncGenerator<Uint8Array> {
  for await (const piece of content) {
    sums.crc = crc32(piece, sums.crc);
    sums.sizeBytes += piece.length;
    yield piece;
  }
}

/**
 * Compress this much at once. A streaming compressor takes a quarter of a megabyte, and an archive may have 100,000
 * short files.
 */
const shortBytes = 32 * 1024;

async function* deflate(content: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const first: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await content.next();
    if (done) {
      yield deflateRawSync(Buffer.concat(first));
      return;
    }
    first.push(value);
    length += value.length;
    if (length > shortBytes) break;
  }
  const whole = (async function* () {
    yield* first;
    yield* content;
  })();
  const packer = createDeflateRaw();
  const feeding = pipeline(Readable.from(whole, { objectMode: false }), packer);
  // An error of the content reaches the reader through the packer.
  feeding.catch(() => {});
  try {
    yield* packer as AsyncIterable<Uint8Array>;
  } finally {
    packer.destroy();
    await feeding.catch(() => {});
  }
}

/** We do not know the sizes yet. The extra field of a large member says that they will have 64 bits. */
function localHeader(name: Buffer, method: number, time: number, isLarge: boolean): Buffer {
  const extra = isLarge ? wideSizes([0, 0]) : Buffer.alloc(0);
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(isLarge ? version : 20, 4);
  header.writeUInt16LE(flags, 6);
  header.writeUInt16LE(method, 8);
  header.writeUInt32LE(time, 10);
  if (isLarge) {
    header.writeUInt32LE(most32, 18);
    header.writeUInt32LE(most32, 22);
  }
  header.writeUInt16LE(name.length, 26);
  header.writeUInt16LE(extra.length, 28);
  return Buffer.concat([header, name, extra]);
}

function dataDescriptor(
  { crc, packedBytes, sizeBytes }: Pick<Written, 'crc' | 'packedBytes' | 'sizeBytes'>,
  isLarge: boolean,
): Buffer {
  const descriptor = Buffer.alloc(isLarge ? 24 : 16);
  descriptor.writeUInt32LE(0x08074b50, 0);
  descriptor.writeUInt32LE(crc, 4);
  if (isLarge) {
    descriptor.writeBigUInt64LE(BigInt(packedBytes), 8);
    descriptor.writeBigUInt64LE(BigInt(sizeBytes), 16);
  } else {
    descriptor.writeUInt32LE(packedBytes, 8);
    descriptor.writeUInt32LE(sizeBytes, 12);
  }
  return descriptor;
}

function centralHeader({ name, method, time, mode, crc, packedBytes, sizeBytes, offset }: Written): Buffer {
  const isWide = Math.max(packedBytes, sizeBytes, offset) >= most32;
  const extra = isWide ? wideSizes([sizeBytes, packedBytes, offset]) : Buffer.alloc(0);
  const narrow = (value: number) => (isWide ? most32 : value);
  const header = Buffer.alloc(46);
  header.writeUInt32LE(0x02014b50, 0);
  header.writeUInt16LE(madeOnUnix | version, 4);
  header.writeUInt16LE(isWide ? version : 20, 6);
  header.writeUInt16LE(flags, 8);
  header.writeUInt16LE(method, 10);
  header.writeUInt32LE(time, 12);
  header.writeUInt32LE(crc, 16);
  header.writeUInt32LE(narrow(packedBytes), 20);
  header.writeUInt32LE(narrow(sizeBytes), 24);
  header.writeUInt16LE(name.length, 28);
  header.writeUInt16LE(extra.length, 30);
  header.writeUInt32LE((mode << 16) >>> 0, 38);
  header.writeUInt32LE(narrow(offset), 42);
  return Buffer.concat([header, name, extra]);
}

/** With the records of 64 bits before it when a figure does not fit. */
function endOfArchive(count: number, listBytes: number, start: number): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Math.min(count, most16), 8);
  end.writeUInt16LE(Math.min(count, most16), 10);
  end.writeUInt32LE(Math.min(listBytes, most32), 12);
  end.writeUInt32LE(Math.min(start, most32), 16);
  if (count < most16 && listBytes < most32 && start < most32) return end;
  const record = Buffer.alloc(56);
  record.writeUInt32LE(0x06064b50, 0);
  record.writeBigUInt64LE(44n, 4);
  record.writeUInt16LE(madeOnUnix | version, 12);
  record.writeUInt16LE(version, 14);
  record.writeBigUInt64LE(BigInt(count), 24);
  record.writeBigUInt64LE(BigInt(count), 32);
  record.writeBigUInt64LE(BigInt(listBytes), 40);
  record.writeBigUInt64LE(BigInt(start), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(start + listBytes), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([record, locator, end]);
}

/** An extra field with figures of 64 bits. */
function wideSizes(values: readonly number[]): Buffer {
  const extra = Buffer.alloc(4 + 8 * values.length);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(8 * values.length, 2);
  values.forEach((value, index) => {
    extra.writeBigUInt64LE(BigInt(value), 4 + 8 * index);
  });
  return extra;
}

/** Date above, time below. The format knows the years 1980 to 2107 and every second second, in local time. */
function dosTime(when: Date): number {
  const year = Math.min(Math.max(when.getFullYear(), 1980), 2107) - 1980;
  const date = (year << 9) | ((when.getMonth() + 1) << 5) | when.getDate();
  const time = (when.getHours() << 11) | (when.getMinutes() << 5) | (when.getSeconds() >> 1);
  return ((date << 16) | time) >>> 0;
}
