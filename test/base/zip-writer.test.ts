/** Read back by somebody else's reader, Python's. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writeZip, type ZipMember } from '../../src/base/zip-writer.js';

const when = new Date(2024, 4, 6, 7, 8, 10);

test.each([true, false])('members come back as they were, compressed: %s', async (compress) => {
  const long = 'abc'.repeat(100_000);
  const members: ZipMember[] = [
    { name: 'folder/', mode: 0o40755, mtime: when },
    { name: 'folder/naïve.txt', mode: 0o100600, mtime: when, content: pieces('one ', 'two') },
    { name: 'long', mtime: when, content: pieces(long, long) },
    { name: 'empty', mtime: when, content: pieces() },
    { name: 'large', mtime: when, content: pieces('x'), isLarge: true },
  ];
  const read = await readBack(members, compress);
  expect(read).toEqual([
    ['folder/', 0, 0o40755, [2024, 5, 6, 7, 8, 10], ''],
    ['folder/naïve.txt', 7, 0o100600, [2024, 5, 6, 7, 8, 10], 'one two'],
    ['long', 600_000, 0o100644, [2024, 5, 6, 7, 8, 10], 'abcabcabca'],
    ['empty', 0, 0o100644, [2024, 5, 6, 7, 8, 10], ''],
    ['large', 1, 0o100644, [2024, 5, 6, 7, 8, 10], 'x'],
  ]);
});

test('more members than 16 bits count are all there', async () => {
  const members = Array.from({ length: 66_000 }, (_, index) => ({ name: `f${index}` }));
  expect((await readBack(members, false)).length).toBe(66_000);
});

test('content that breaks off breaks the archive off', async () => {
  const broken = (async function* () {
    yield Buffer.from('a');
    throw new Error('gone');
  })();
  await expect(collect(writeZip(each([{ name: 'a', content: broken }])))).rejects.toThrow('gone');
});

test('a reader that leaves early lets go of the content', async () => {
  let isOpen = true;
  const endless = (async function* () {
    try {
      for (;;) yield Buffer.alloc(65_536, Math.random().toString());
    } finally {
      isOpen = false;
    }
  })();
  for await (const piece of writeZip(each([{ name: 'a', content: endless }]))) {
    if (piece.length > 1000) break;
  }
  expect(isOpen).toBe(false);
});

const reader = `
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    print(json.dumps([[i.filename, i.file_size, i.external_attr >> 16, i.date_time,
        archive.read(i).decode()[:10]] for i in archive.infolist()]))`;

async function readBack(members: readonly ZipMember[], compress: boolean): Promise<unknown[]> {
  const folder = mkdtempSync(join(tmpdir(), 'zip-writer-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'a.zip');
  writeFileSync(path, await collect(writeZip(each(members), { compress })));
  const said = execFileSync('/usr/bin/python3', ['-c', reader, path], { maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(said.toString());
}

async function collect(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of stream) all.push(piece);
  return Buffer.concat(all);
}

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}
