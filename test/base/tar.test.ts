import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readTar, TarError } from '../../src/base/tar-reader.js';
import { type TarMember, writeTar } from '../../src/base/tar-writer.js';

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'workcell-tar-'));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

const long = `${'folder/'.repeat(40)}${'ä'.repeat(100)}`;

function file(name: string, content: string): TarMember {
  const bytes = Buffer.from(content);
  return { name, size: bytes.length, content: [bytes], mtime: new Date(1000), mode: 0o640 };
}

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function contents(bytes: Uint8Array, size = 100): Promise<[string, string, string][]> {
  const found: [string, string, string][] = [];
  for await (const { name, type, linkname, content } of readTar(pieces(bytes, size)))
    found.push([name, type, type === 'file' ? await text(content) : linkname]);
  return found;
}

describe('GNU tar', () => {
  test('unpacks what is written: long names, links, folders, permissions, times', async () => {
    const members = [
      file('short', 'one'),
      file(long, 'two'),
      { name: 'folder/empty', type: 'directory' as const, mtime: new Date(0) },
      { name: 'link', type: 'symlink' as const, linkname: long },
    ];
    writeFileSync(join(place, 'a.tar'), await buffer(writeTar(members)));
    execFileSync('tar', ['-xf', 'a.tar'], { cwd: place });
    expect(readFileSync(join(place, 'short'), 'utf8')).toBe('one');
    expect(readFileSync(join(place, 'link'), 'utf8')).toBe('two');
    const listed = execFileSync('tar', ['-tvf', 'a.tar'], { cwd: place, encoding: 'utf8' });
    expect(listed.split('\n')[0]).toMatch(/^-rw-r-----.* 3 1970-01-01 00:00 short$/);
    expect(listed).toMatch(/^drwxr-xr-x.* folder\/empty\/$/m);
  });

  test.each(['gnu', 'pax', 'ustar'])('writes in its form %s what is read', async (format) => {
    const name = format === 'ustar' ? `${'folder/'.repeat(20)}name` : long;
    mkdirSync(join(place, name, '..'), { recursive: true });
    writeFileSync(join(place, name), 'content');
    symlinkSync('folder', join(place, 'link'));
    execFileSync('tar', [`--format=${format}`, '-cf', 'a.tar', 'link', name], { cwd: place });
    expect(await contents(readFileSync(join(place, 'a.tar')))).toEqual([
      ['link', 'symlink', 'folder'],
      [name, 'file', 'content'],
    ]);
  });

  test.each(['gnu', 'pax'])('tells a size beyond 8 GiB in its form %s', async (format) => {
    writeFileSync(join(place, 'large'), '');
    truncateSync(join(place, 'large'), 9 * 2 ** 30);
    const head = execFileSync('bash', ['-c', `tar --format=${format} -cf - large | head -c 4096`], {
      cwd: place,
    });
    const { value } = await readTar(pieces(head, 512)).next();
    expect(value).toMatchObject({ name: 'large', size: 9 * 2 ** 30 });
  });
});

describe('what GNU tar can pack and we cannot unpack as it was', () => {
  const packed = (...words: string[]) => execFileSync('tar', ['-cf', '-', ...words], { cwd: place });

  test.each(['gnu', 'posix'])('a sparse file in its form %s is no file with a map in it', async (format) => {
    writeFileSync(join(place, 'sparse'), '');
    truncateSync(join(place, 'sparse'), 1024 * 1024);
    const archive = packed('-S', `--format=${format}`, 'sparse');
    if (format === 'posix') await expect(contents(archive)).rejects.toThrow('it has a sparse file');
    else expect(await contents(archive)).toMatchObject([['sparse', 'unknown', '']]);
  });

  test.each(['gnu', 'posix', 'ustar'])(
    'names that are not UTF-8 are refused in its form %s',
    async (format) => {
      for (const byte of [0xfe, 0xff])
        writeFileSync(Buffer.concat([Buffer.from(`${place}/bad`), Buffer.from([byte])]), 'x');
      await expect(contents(packed(`--format=${format}`, '.'))).rejects.toThrow(
        '"./bad\ufffd", is not UTF-8',
      );
    },
  );

  test('a label of the volume is passed over, and so is all that stands behind the end', async () => {
    writeFileSync(join(place, 'a'), 'content');
    const archive = packed('-V', 'Backup of Monday', '-b', '1', 'a');
    const more = Buffer.concat([archive, packed('a'), Buffer.from('and what is no archive')]);
    for (const bytes of [archive, more]) expect(await contents(bytes)).toEqual([['a', 'file', 'content']]);
  });
});

test('what is written is read, in pieces of any size', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.stringMatching(/^[a-zé/]{1,150}[a-z]$/), fc.string({ maxLength: 1500 }))),
      fc.integer({ min: 1, max: 2000 }),
      async (members, size) => {
        const archive = await buffer(writeTar(members.map(([name, content]) => file(name, content))));
        expect(await contents(archive, size)).toEqual(
          members.map(([name, content]) => [name, 'file', content]),
        );
      },
    ),
    { numRuns: 30 },
  ));

test('a member that is not read, or not to its end, is passed over', async () => {
  const archive = await buffer(
    writeTar([file('a', 'x'.repeat(3000)), file('b', 'y'.repeat(3000)), file('c', 'z')]),
  );
  const names: string[] = [];
  for await (const { name, content } of readTar(pieces(archive, 700))) {
    names.push(name);
    if (name === 'b') for await (const _ of content) break;
  }
  expect(names).toEqual(['a', 'b', 'c']);
});

test('whatever stands in an archive is read or refused', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(2047), fc.nat(255)), { maxLength: 4 }),
      fc.nat(2048),
      async (changes, length) => {
        const archive = await buffer(writeTar([file(long, 'content'), file('b', 'x')]));
        for (const [at, byte] of changes) archive[at] = byte;
        await contents(archive.subarray(0, length)).catch((error) => expect(error).toBeInstanceOf(TarError));
      },
    ),
    { numRuns: 200 },
  ));

test('records cost what they say about a member, and names are bounded', async () => {
  const pax = (flag: string, records: Buffer) => {
    const bytes = Buffer.alloc(512 + Math.ceil(records.length / 512) * 512);
    bytes.write('PaxHeader', 0);
    bytes.write(`${records.length.toString(8).padStart(11, '0')}`, 124);
    bytes.fill(' ', 148, 156);
    bytes.write(flag, 156);
    const sum = bytes.subarray(0, 512).reduce((total, byte) => total + byte, 0);
    bytes.write(`${sum.toString(8).padStart(6, '0')}\u0000 `, 148);
    records.copy(bytes, 512);
    return bytes;
  };
  const unknown = Buffer.from(
    Array.from({ length: 40_000 }, (_, n) => `16 k${String(n).padStart(6, '0')}=abcd\n`).join(''),
  );
  const archive = Buffer.concat([
    pax('g', unknown),
    await buffer(writeTar(Array.from({ length: 2000 }, (_, n) => file(`f${n}`, '')))),
  ]);
  expect(await contents(archive, 65_536)).toHaveLength(2000);
  const endless = pax('L', Buffer.from('a/'.repeat(3000)));
  await expect(contents(Buffer.concat([endless, await buffer(writeTar([file('x', '')]))]))).rejects.toThrow(
    'more than 4096',
  );
});

test('a file that shrinks while it is packed is an error, and one that grows is cut', async () => {
  await expect(buffer(writeTar([{ ...file('a', 'abc'), size: 4 }]))).rejects.toThrow('a has 3 bytes');
  const grown = await buffer(writeTar([{ ...file('a', 'abcd'), size: 2 }, file('b', 'next')]));
  expect(await contents(grown)).toEqual([
    ['a', 'file', 'ab'],
    ['b', 'file', 'next'],
  ]);
});
