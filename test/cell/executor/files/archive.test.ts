import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGzip, gzipSync } from 'node:zlib';
import { type Header, pack } from 'tar-stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ZipFile } from 'yazl';
import { defaultArchiveLimits } from '../../../../src/cell/executor/files/archive/archive-limits.js';
import { download } from '../../../../src/cell/executor/files/download-files.js';
import { upload } from '../../../../src/cell/executor/files/upload-files.js';
import { makeScratch as makeTemporary } from '../../../../src/cell/launchers/scratch.js';
import { codeOf, errorOf, makeScratch, secret } from './scratch.js';

async function* chunksOf(data: Uint8Array, size = 1000): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < data.length; start += size) yield data.subarray(start, start + size);
}

async function bytesOf(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return buffer(Readable.from(content));
}

type TarMember = Partial<Header> & { name: string; content?: string };

async function tarOf(members: readonly TarMember[]): Promise<Buffer> {
  const archive = pack();
  for (const { content = '', ...header } of members) {
    if (header.type === undefined || header.type === 'file') archive.entry(header, content);
    else archive.entry(header);
  }
  archive.finalize();
  return bytesOf(archive as AsyncIterable<Uint8Array>);
}

async function zipOf(members: readonly { name: string; content: string; mode?: number }[]): Promise<Buffer> {
  const archive = new ZipFile();
  for (const { name, content, mode = 0o100644 } of members)
    archive.addBuffer(Buffer.from(content), name, { mode });
  archive.end();
  return bytesOf(archive.outputStream as Readable);
}

/** Writes another name of the same length into an archive, as its maker would have refused to. */
function rename(archive: Buffer, from: string, to: string): Buffer {
  return Buffer.from(archive.toString('latin1').replaceAll(from, to), 'latin1');
}

const temporary = dirname(makeTemporary('test'));
const spools = () => readdirSync(temporary).filter((name) => name.startsWith('zip-'));

describe('uploading one file', () => {
  it('streams it into place with its mode', async () => {
    const { root, tree } = makeScratch();
    const data = Buffer.alloc(300_000, 'abc');
    expect(await upload(tree, 'a/b.bin', chunksOf(data), { mode: 0o4755 })).toEqual({
      path: join(root, 'a/b.bin'),
      files: 1,
      sizeBytes: 300_000,
    });
    expect(readFileSync(join(root, 'a/b.bin'))).toEqual(data);
    expect(statSync(join(root, 'a/b.bin')).mode & 0o7777).toBe(0o755);
  });

  it('leaves the old file when it is cancelled or breaks off', async () => {
    const { root, tree } = makeScratch();
    writeFileSync(join(root, 'a'), 'old');
    const controller = new AbortController();
    async function* cancelling() {
      yield Buffer.from('new');
      controller.abort();
      yield Buffer.from('more');
    }
    async function* breaking() {
      yield Buffer.from('new');
      throw new Error('connection lost');
    }
    expect(await codeOf(upload(tree, 'a', cancelling(), { signal: controller.signal }))).toBe('cancelled');
    await expect(upload(tree, 'a', breaking(), {})).rejects.toThrow('connection lost');
    await expect(upload(tree, 'a', breaking(), { format: 'tar' })).rejects.toThrow();
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('old');
    expect(readdirSync(root)).toEqual(['a', 'workspace']);
  });
});

it('finishes an upload in the right place although the tree is closed meanwhile', async () => {
  const { root, outside, tree } = makeScratch();
  const opened: number[] = [];
  onTestFinished(() => opened.forEach((fd) => void closeSync(fd)));
  async function* closing() {
    yield Buffer.from('one');
    tree.close();
    // Whatever number the root had is now that of another directory.
    for (let count = 0; count < 50; count++) opened.push(openSync(outside, 'r'));
    yield Buffer.from('two');
  }
  await upload(tree, 'file', closing(), {});
  expect(readFileSync(join(root, 'file'), 'utf8')).toBe('onetwo');
  expect(readdirSync(outside)).toEqual(['secret.txt']);
});

describe('downloading', () => {
  it('gives one file, or a range of its bytes', async () => {
    const { root, tree } = makeScratch();
    writeFileSync(join(root, 'a.txt'), '0123456789');
    const whole = await download(tree, 'a.txt', {});
    expect(whole).toMatchObject({ mediaType: 'text/plain', sizeBytes: 10 });
    expect((await bytesOf(whole.content)).toString()).toBe('0123456789');
    expect((await bytesOf((await download(tree, 'a.txt', { start: 2, end: 4 })).content)).toString()).toBe(
      '234',
    );
    expect((await bytesOf((await download(tree, 'a.txt', { start: 8 })).content)).toString()).toBe('89');
    expect(await codeOf(download(tree, 'a.txt', { start: 11 }))).toBe('invalid-action');
    expect(await codeOf(download(tree, 'workspace', {}))).toBe('not-a-file');
    expect(await codeOf(download(tree, 'missing', { format: 'tar' }))).toBe('not-found');
    expect(await codeOf(download(tree, '../outside/secret.txt', {}))).toBe('path-outside');
  });

  it.each(['tar', 'zip'] as const)('packs a directory as %s that comes out the same', async (format) => {
    const { root, tree } = makeScratch();
    mkdirSync(join(root, 'from/empty'), { recursive: true });
    mkdirSync(join(root, 'from/ünï/deep'), { recursive: true });
    writeFileSync(join(root, 'from/ünï/deep/run.sh'), 'x'.repeat(200_000), { mode: 0o755 });
    writeFileSync(join(root, 'from/none'), '');
    symlinkSync('ünï/deep/run.sh', join(root, 'from/link'));
    symlinkSync('../outside', join(root, 'from/dangling'));
    execFileSync('mkfifo', [join(root, 'from/fifo')]);
    rmSync(join(root, 'from/dangling'));
    const packed = await bytesOf((await download(tree, 'from', { format })).content);
    const uploaded = await upload(tree, 'to', chunksOf(packed), { format });
    expect(uploaded).toMatchObject({ files: 3, path: join(root, 'to') });
    rmSync(join(root, 'from/fifo'));
    execFileSync('diff', ['-r', '--no-dereference', join(root, 'from'), join(root, 'to')]);
    expect(statSync(join(root, 'to/ünï/deep/run.sh')).mode & 0o777).toBe(0o755);
    expect(readlinkSync(join(root, 'to/link'))).toBe('ünï/deep/run.sh');
  });

  it('makes archives that common programs understand, also of one file', async () => {
    const { root, outside, tree } = makeScratch();
    writeFileSync(join(root, 'one.txt'), 'content');
    writeFileSync(
      join(outside, 'a.tar'),
      await bytesOf((await download(tree, 'one.txt', { format: 'tar' })).content),
    );
    expect(execFileSync('tar', ['-xOf', join(outside, 'a.tar'), 'one.txt'], { encoding: 'utf8' })).toBe(
      'content',
    );
    const zip = await bytesOf((await download(tree, 'one.txt', { format: 'zip' })).content);
    writeFileSync(join(outside, 'a.zip'), zip);
    const script = 'import sys,zipfile; print(zipfile.ZipFile(sys.argv[1]).read("one.txt").decode(), end="")';
    expect(execFileSync('python3', ['-c', script, join(outside, 'a.zip')], { encoding: 'utf8' })).toBe(
      'content',
    );
  });

  it.each(['tar', 'zip'] as const)('ends quietly when nobody reads on: %s', async (format) => {
    const { root, tree } = makeScratch();
    for (const name of ['a', 'b']) writeFileSync(join(root, name), Buffer.alloc(5_000_000, name));
    const before = readdirSync('/proc/self/fd').length;
    const { content } = await download(tree, '.', { format });
    for await (const chunk of content) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before);
    const controller = new AbortController();
    const cancelled = await download(tree, '.', { format, signal: controller.signal });
    controller.abort();
    expect(await codeOf(bytesOf(cancelled.content))).toBe('cancelled');
  });
});

describe('downloading names that are not UTF-8', () => {
  const name = (root: string, byte: number) =>
    Buffer.concat([Buffer.from(`${root}/bad`), Buffer.from([byte])]);

  it('packs one, and refuses two that would be the same', async () => {
    const { root, tree } = makeScratch();
    writeFileSync(name(root, 0xff), 'x');
    const whole = async () => bytesOf((await download(tree, '.', { format: 'tar' })).content);
    expect((await whole()).toString()).toContain('bad\ufffd');
    writeFileSync(name(root, 0xfe), 'y');
    expect(await codeOf(whole())).toBe('archive-refused');
  });
});

describe('unpacking', () => {
  it('takes what tar and gzip make', async () => {
    const { root, outside, tree } = makeScratch();
    const from = mkdtempSync(join(outside, 'from-'));
    mkdirSync(join(from, 'sub'));
    writeFileSync(join(from, 'sub/file'), 'x');
    execFileSync('ln', [join(from, 'sub/file'), join(from, 'hard')]);
    const long = 'n'.repeat(200);
    writeFileSync(join(from, long), 'long');
    const archive = execFileSync('tar', ['-C', from, '-czf', '-', '.']);
    const uploaded = await upload(tree, 'to', chunksOf(archive, 1), { format: 'tar' });
    expect(uploaded.files).toBe(3);
    execFileSync('diff', ['-r', from, join(root, 'to')]);
  });

  it('takes the set-user-id bit away and replaces links instead of writing through them', async () => {
    const { root, outside, tree } = makeScratch();
    symlinkSync(join(outside, 'secret.txt'), join(root, 'file'));
    const members = [{ name: 'file', mode: 0o6755, content: 'x' }];
    await upload(tree, '.', chunksOf(await tarOf(members)), { format: 'tar' });
    expect(lstatSync(join(root, 'file')).mode & 0o7777).toBe(0o755);
    await upload(tree, 'zip', chunksOf(await zipOf([{ name: 'file', content: 'x', mode: 0o106777 }])), {
      format: 'zip',
    });
    expect(lstatSync(join(root, 'zip/file')).mode & 0o7777).toBe(0o777);
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe(secret);
  });

  const refusedTars: Record<string, readonly TarMember[]> = {
    'an absolute name': [{ name: '/tmp/evil', content: 'x' }],
    'a name with ..': [{ name: 'a/../../evil', content: 'x' }],
    'a link to an absolute path': [{ name: 'l', type: 'symlink', linkname: '/etc' }],
    'a link that leads out': [{ name: 'd/l', type: 'symlink', linkname: '../../outside' }],
    'a link that climbs after a name': [
      { name: 'd/up', type: 'symlink', linkname: '..' },
      { name: 'l', type: 'symlink', linkname: 'd/up/../outside' },
    ],
    'a member below a link': [
      { name: 'd', type: 'directory' },
      { name: 'l', type: 'symlink', linkname: 'd' },
      { name: 'l/file', content: 'x' },
    ],
    'a hard link that leads out': [{ name: 'h', type: 'link', linkname: '../outside/secret.txt' }],
    'a hard link to an absolute path': [{ name: 'h', type: 'link', linkname: '/etc/passwd' }],
    'a hard link to a link': [
      { name: 'l', type: 'symlink', linkname: 'x' },
      { name: 'h', type: 'link', linkname: 'l' },
    ],
    'a device': [{ name: 'null', type: 'character-device', devmajor: 1, devminor: 3 }],
    'a pipe': [{ name: 'fifo', type: 'fifo' }],
    'a name that is too long': [{ name: 'n'.repeat(300), content: 'x' }],
  };

  it('links only to files that the archive brought', async () => {
    const { root, tree } = makeScratch();
    writeFileSync(join(root, 'there'), 'of before');
    const archive = await tarOf([{ name: 'second', type: 'link', linkname: 'there' }]);
    expect(await codeOf(upload(tree, '.', chunksOf(archive), { format: 'tar' }))).toBe('archive-refused');
    expect(readdirSync(root)).not.toContain('second');
  });

  it.each(Object.entries(refusedTars))('refuses %s', async (_what, members) => {
    const { root, outside, tree } = makeScratch();
    const archive = await tarOf([{ name: 'good', content: 'good' }, ...members]);
    expect(await codeOf(upload(tree, '.', chunksOf(archive), { format: 'tar' }))).toBe('archive-refused');
    expect(readFileSync(join(root, 'good'), 'utf8')).toBe('good');
    expect(readdirSync(outside)).toEqual(['secret.txt']);
    expect(existsSync('/tmp/evil')).toBe(false);
    expect(readdirSync(root).filter((name) => name.startsWith('.workcell-'))).toEqual([]);
  });

  it.each([
    [
      'a name with ..',
      async () => rename(await zipOf([{ name: 'aa/evil', content: 'x' }]), 'aa/evil', '../evil'),
    ],
    [
      'an absolute name',
      async () => rename(await zipOf([{ name: 'a/evil', content: 'x' }]), 'a/evil', '//evil'),
    ],
    [
      'a backslashed name',
      async () => rename(await zipOf([{ name: 'aa/evil', content: 'x' }]), 'aa/evil', '..\\evil'),
    ],
    ['a link that leads out', async () => zipOf([{ name: 'l', content: '../outside', mode: 0o120777 }])],
    ['a device', async () => zipOf([{ name: 'd', content: '', mode: 0o020666 }])],
    ['rubbish', async () => Buffer.from('this is no archive at all, only text')],
    ['a cut archive', async () => (await zipOf([{ name: 'a', content: 'x' }])).subarray(0, 40)],
  ])('refuses a zip archive with %s', async (_what, make) => {
    const { outside, tree } = makeScratch();
    const before = spools();
    expect(await codeOf(upload(tree, '.', chunksOf(await make()), { format: 'zip' }))).toBe(
      'archive-refused',
    );
    expect(readdirSync(outside)).toEqual(['secret.txt']);
    expect(spools()).toEqual(before);
  });

  it('refuses rubbish, cut archives and broken compression as tar', async () => {
    const { tree } = makeScratch();
    const archive = await tarOf([{ name: 'a', content: 'x'.repeat(5000) }]);
    const packed = gzipSync(archive);
    for (const data of [
      Buffer.alloc(2000, 'no archive'),
      archive.subarray(0, 3000),
      packed.subarray(0, 40),
    ]) {
      expect(await codeOf(upload(tree, '.', chunksOf(data), { format: 'tar' }))).toBe('archive-refused');
    }
  });

  it('stops at a header that would be kept in memory as a whole', async () => {
    const { tree } = makeScratch();
    const file = await tarOf([{ name: 'file', content: 'x' }]);
    // The first header becomes that of an extended one that says it is 4 GiB long, in octal.
    const header = Buffer.from(file.subarray(0, 512));
    header.write('40000000000 ', 124, 'latin1');
    header.write('x', 156, 'latin1');
    header.fill(' ', 148, 156);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield header;
      for (;;) yield Buffer.alloc(65_536, 'x');
    }
    const before = process.memoryUsage().rss;
    const error = await errorOf(upload(tree, 'here', endless(), { format: 'tar' }));
    expect(error).toMatchObject({ code: 'archive-refused', message: expect.stringContaining('max size') });
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
  });

  it('stops at archive bombs', async () => {
    const { root, tree } = makeScratch();
    const limits = { ...defaultArchiveLimits, totalBytes: 3_000_000, entries: 50, ratioFromBytes: 1_000_000 };
    const zeros = '\0'.repeat(2_000_000);
    const send = (data: Buffer, format: 'tar' | 'zip', more = {}) =>
      upload(tree, 'in', chunksOf(data, 65_536), { format }, { ...limits, ...more });
    const many = Array.from({ length: 60 }, (_, index) => ({ name: `f${index}`, content: '' }));
    const large = [1, 2].map((number) => ({ name: `large${number}`, content: zeros }));
    const steep = [{ name: 'steep', content: zeros }];
    for (const [members, more, why] of [
      [many, {}, /50 members/],
      [large, {}, /3000000 bytes/],
      [steep, { ratio: 100 }, /100 times/],
    ] as const) {
      expect((await errorOf(send(gzipSync(await tarOf(members)), 'tar', more))).message).toMatch(why);
      expect((await errorOf(send(await zipOf(members), 'zip', more))).message).toMatch(why);
    }
    expect(readdirSync(join(root, 'in')).filter((name) => name.startsWith('.'))).toEqual([]);
    expect(await send(gzipSync(await tarOf(steep)), 'tar')).toMatchObject({ files: 1 });
  });

  it('stops at an endless stream of zeros after the archive', async () => {
    const { tree } = makeScratch();
    const gzip = createGzip();
    const zeros = Readable.from(
      (function* () {
        for (;;) yield Buffer.alloc(1_000_000);
      })(),
    ).pipe(gzip);
    onTestFinished(() => void gzip.destroy());
    const limits = { ...defaultArchiveLimits, totalBytes: 50_000_000 };
    expect(
      await codeOf(upload(tree, '.', zeros as AsyncIterable<Uint8Array>, { format: 'tar' }, limits)),
    ).toBe('archive-refused');
  });
});
