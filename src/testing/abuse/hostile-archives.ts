/** Archives that no honest program makes, written by hand. */
import { deflateRawSync } from 'node:zlib';

export interface TarMember {
  readonly name: string;
  /** `0` file, `1` hard link, `2` symbolic link, `3` character device, `4` block device, `5` directory. */
  readonly type?: string;
  readonly target?: string;
  readonly mode?: number;
  readonly content?: string;
}

export function tar(members: readonly TarMember[]): Buffer {
  return Buffer.concat([...members.map(tarMember), Buffer.alloc(1024)]);
}

function tarMember({ name, type = '0', target = '', mode = 0o644, content = '' }: TarMember): Buffer {
  const header = Buffer.alloc(512);
  const size = Buffer.byteLength(content);
  header.write(name, 0, 100);
  header.write(`${mode.toString(8).padStart(7, '0')}\0`, 100);
  header.write('0000000\x000000000\x00', 108);
  header.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write(type, 156);
  header.write(target, 157, 100);
  header.write('ustar\x0000', 257);
  header.write('0000001\x000000003\x00', 329);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const body = Buffer.alloc(Math.ceil(size / 512) * 512);
  body.write(content);
  return Buffer.concat([header, body]);
}

/** A zip with one member of zeros: about a thousandth of what it unpacks to. */
export function zipBomb(unpackedBytes: number): Buffer {
  const name = Buffer.from('bomb');
  const data = deflateRawSync(Buffer.alloc(unpackedBytes), { level: 9 });
  const common = Buffer.alloc(26);
  common.writeUInt16LE(20, 0);
  common.writeUInt16LE(8, 4);
  // A checksum of zeros that is wrong: what comes before it must stop the bomb.
  common.writeUInt32LE(0, 10);
  common.writeUInt32LE(data.length, 14);
  common.writeUInt32LE(unpackedBytes, 18);
  common.writeUInt16LE(name.length, 22);
  const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, name, data]);
  const central = Buffer.concat([
    Buffer.from('PK\x01\x02\x14\x00', 'latin1'),
    common,
    Buffer.alloc(14),
    name,
  ]);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, central, end]);
}

/** A tar of empty files without end. */
export async function* endlessTar(): AsyncGenerator<Buffer> {
  for (let number = 0; ; number += 100)
    yield Buffer.concat(Array.from({ length: 100 }, (_, index) => tarMember({ name: `f${number + index}` })));
}
