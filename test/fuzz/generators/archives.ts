/** Archives that lie: members outside, links, sizes that are not so, bombs, and bytes that are wrong. */
import { writeFileSync } from 'node:fs';
import { deflateRawSync } from 'node:zlib';
import type { Random } from '../random.js';
import { oddName } from './names.js';

/** `FILE tar|zip` */
export function writeArchive(random: Random, [file = '', format]: readonly string[]): void {
  const bytes = format === 'zip' ? zip(random) : tar(random);
  for (let count = random.chance(0.4) ? random.size(20) : 0; count > 0; count--)
    bytes[random.int(bytes.length)] = random.int(256);
  const end = random.chance(0.2) ? random.int(bytes.length) : bytes.length;
  writeFileSync(file, bytes.subarray(0, end));
}

function memberName(random: Random): Buffer {
  return random.pick<() => Buffer>([
    () => oddName(random),
    () => Buffer.concat([oddName(random), Buffer.from('/'), oddName(random)]),
    () =>
      Buffer.from(
        random.pick([
          '../escaped',
          '/escaped',
          'a/../../escaped',
          './../escaped',
          'link/escaped',
          '..\\escaped',
          'C:\\escaped',
          '//escaped',
          '.',
          '..',
          '/',
          '',
          'sentinel',
          '../sentinel',
        ]),
      ),
    () => Buffer.from(`${'d/'.repeat(random.size(2000))}f`),
  ])();
}

function tar(random: Random): Buffer {
  const members = random.list(random.chance(0.1) ? 3000 : 20, () => tarMember(random));
  return Buffer.concat([...members, Buffer.alloc(1024)]);
}

function tarMember(random: Random): Buffer {
  const body = random.bytes(random.size(2000));
  const type = random.pick([
    '0',
    '0',
    '0',
    '1',
    '2',
    '3',
    '4',
    '5',
    '6',
    '7',
    'L',
    'K',
    'x',
    'g',
    'S',
    '\0',
    'Z',
  ]);
  const header = Buffer.alloc(512);
  memberName(random).copy(header, 0, 0, 100);
  header.write(random.pick(['0000644\0', '0004755\0', '0000000\0', '7777777\0', 'garbage\0']), 100, 'latin1');
  header.write('0000000\0'.repeat(2), 108, 'latin1');
  const told = random.chance(0.85) ? body.length : random.pick([0, 2 ** 33 - 1, body.length + 5000]);
  header.write(`${told.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  header.write('00000000000\0', 136, 'latin1');
  header.write(' '.repeat(8), 148, 'latin1');
  header.write(type, 156, 'latin1');
  header.write(random.pick(['..', '/etc', '.', 'sentinel', '../sentinel', '/', 'link']), 157, 'latin1');
  header.write('ustar\x0000', 257, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return Buffer.concat([header, body, Buffer.alloc((512 - (body.length % 512)) % 512)]);
}

function zip(random: Random): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  const count = random.size(random.chance(0.1) ? 3000 : 20);
  for (let at = 0; at < count; at++) {
    const name = memberName(random);
    // One that grows a thousandfold.
    const body = random.chance(0.1) ? Buffer.alloc(random.size(60_000_000)) : random.bytes(random.size(2000));
    const packed = deflateRawSync(body, { level: 1 });
    const told = random.chance(0.85) ? body.length : random.pick([0, 1, 0xffffffff, 0xfffffffe]);
    const fields = zipFields(random, name, { crc: random.int(2 ** 31), packed: packed.length, told });
    const local = Buffer.concat([signed(0x04034b50, fields), name, packed]);
    central.push(zipEntry(random, fields, name, random.chance(0.95) ? offset : random.int(2 ** 31)));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(count & 0xffff, 8);
  end.writeUInt16LE(random.chance(0.9) ? count & 0xffff : random.int(65_536), 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

function zipFields(
  random: Random,
  name: Buffer,
  { crc, packed, told }: { crc: number; packed: number; told: number },
): Buffer {
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(20, 0);
  fields.writeUInt16LE(random.pick([0, 0, 0x800, 0x1, 0x8]), 2);
  fields.writeUInt16LE(random.pick([8, 8, 8, 8, 0, 99]), 4);
  fields.writeUInt32LE(crc, 10);
  fields.writeUInt32LE(packed, 14);
  fields.writeUInt32LE(told, 18);
  fields.writeUInt16LE(name.length, 22);
  return fields;
}

function zipEntry(random: Random, fields: Buffer, name: Buffer, offset: number): Buffer {
  const rest = Buffer.alloc(14);
  // The kind of file, as Unix tells it: plain, link, directory, device.
  rest.writeUInt32LE((random.pick([0o100644, 0o120777, 0o040755, 0o020666, 0o104755]) << 16) >>> 0, 6);
  rest.writeUInt32LE(offset >>> 0, 10);
  return Buffer.concat([signed(0x02014b50, Buffer.concat([Buffer.from([20, 3]), fields])), rest, name]);
}

function signed(signature: number, fields: Buffer): Buffer {
  const start = Buffer.alloc(4);
  start.writeUInt32LE(signature, 0);
  return Buffer.concat([start, fields]);
}
