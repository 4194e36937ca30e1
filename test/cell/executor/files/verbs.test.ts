import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { codeOf, errorOf, makeScratch } from './scratch.js';

describe('read', () => {
  it('gives text with its number of lines', async () => {
    const { root, act } = makeScratch();
    writeFileSync(join(root, 'a.txt'), 'one\r\ntwo\nthree');
    expect(await act({ action: 'read', path: 'a.txt' })).toEqual({
      observation: 'read',
      path: join(root, 'a.txt'),
      content: 'one\r\ntwo\nthree',
      encoding: 'utf8',
      mediaType: 'text/plain',
      sizeBytes: 14,
      totalLines: 3,
    });
  });

  it('gives a range of lines, both ends included, with their line ends', async () => {
    const { root, act } = makeScratch();
    writeFileSync(join(root, 'a.txt'), 'one\r\ntwo\nthree\n');
    const read = (startLine?: number, endLine?: number) =>
      act({ action: 'read', path: 'a.txt', startLine, endLine });
    expect(await read(2, 2)).toMatchObject({ content: 'two\n', startLine: 2, endLine: 2, totalLines: 3 });
    expect(await read(2)).toMatchObject({ content: 'two\nthree\n', endLine: 3 });
    expect(await read(undefined, 1)).toMatchObject({ content: 'one\r\n', startLine: 1 });
    expect(await read(1, 99)).toMatchObject({ content: 'one\r\ntwo\nthree\n', endLine: 3 });
    expect((await errorOf(read(4))).message).toMatch(/3 lines/);
    expect(await codeOf(read(4))).toBe('invalid-action');
    expect(await codeOf(read(3, 2))).toBe('invalid-action');
  });

  it('streams a range out of a file that is larger than the limit', async () => {
    const { root, act } = makeScratch();
    const lines = Array.from({ length: 100_000 }, (_, index) => `line ${index + 1} ü`);
    writeFileSync(join(root, 'big.txt'), lines.join('\n'));
    const error = await errorOf(act({ action: 'read', path: 'big.txt', maxBytes: 10_000 }));
    expect(error.code).toBe('file-too-large');
    expect(error.message).toMatch(/10000.*startLine.*download/);
    const range = { startLine: 50_000, endLine: 50_002, maxBytes: 10_000 };
    const picked = await act({ action: 'read', path: 'big.txt', ...range });
    expect(picked).toMatchObject({
      content: `${lines.slice(49_999, 50_002).join('\n')}\n`,
      totalLines: 100_000,
    });
    expect(
      await codeOf(act({ action: 'read', path: 'big.txt', startLine: 1, endLine: 9_999, maxBytes: 1000 })),
    ).toBe('file-too-large');
  });

  it('answers with base64 and a media type when the content is not text', async () => {
    const { root, act } = makeScratch();
    const png = Buffer.from('89504e470d0a1a0a0000', 'hex');
    writeFileSync(join(root, 'picture.dat'), png);
    writeFileSync(join(root, 'broken.txt'), Buffer.from([0x61, 0xff, 0x62]));
    writeFileSync(join(root, 'nul.txt'), 'a\0b');
    writeFileSync(join(root, 'logo.svg'), '<svg/>');
    expect(await act({ action: 'read', path: 'picture.dat' })).toMatchObject({
      content: png.toString('base64'),
      encoding: 'base64',
      mediaType: 'image/png',
    });
    expect(await act({ action: 'read', path: 'broken.txt' })).toMatchObject({
      content: 'Yf9i',
      encoding: 'base64',
    });
    expect(await act({ action: 'read', path: 'nul.txt' })).toMatchObject({
      mediaType: 'application/octet-stream',
    });
    expect(await act({ action: 'read', path: 'broken.txt', encoding: 'utf8' })).toMatchObject({
      content: 'a\uFFFDb',
    });
    expect(await act({ action: 'read', path: 'logo.svg' })).toMatchObject({
      mediaType: 'image/svg+xml',
      encoding: 'utf8',
    });
    expect(await codeOf(act({ action: 'read', path: 'nul.txt', startLine: 1 }))).toBe('invalid-action');
  });

  it('reads UTF-16 that says so, and keeps the mark of UTF-8', async () => {
    const { root, act } = makeScratch();
    writeFileSync(join(root, 'wide.txt'), Buffer.from('\uFEFFgrün\nrot\n', 'utf16le'));
    writeFileSync(join(root, 'marked.txt'), '\uFEFFabc');
    expect(await act({ action: 'read', path: 'wide.txt' })).toMatchObject({
      content: 'grün\nrot\n',
      encoding: 'utf8',
    });
    expect(await act({ action: 'read', path: 'wide.txt', startLine: 2 })).toMatchObject({ content: 'rot\n' });
    expect(await act({ action: 'read', path: 'marked.txt' })).toMatchObject({ content: '\uFEFFabc' });
  });

  it('answers at once for pipes, sockets, devices and directories', async () => {
    const { root, act } = makeScratch();
    execFileSync('mkfifo', [join(root, 'fifo')]);
    const server = createServer().listen(join(root, 'socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    onTestFinished(() => void server.close());
    mkdirSync(join(root, 'directory'));
    if (process.getuid?.() === 0) execFileSync('mknod', [join(root, 'device'), 'c', '1', '5']);
    for (const path of ['fifo', 'socket', 'directory', ...(process.getuid?.() === 0 ? ['device'] : [])]) {
      expect(await codeOf(act({ action: 'read', path })), path).toBe('not-a-file');
      expect(await codeOf(act({ action: 'write', path, content: 'x' })), path).toBe('not-a-file');
      expect(await codeOf(act({ action: 'write', path, content: 'x', append: true })), path).toBe(
        'not-a-file',
      );
      expect(await codeOf(act({ action: 'edit', path, oldText: 'a', newText: 'b' })), path).toBe(
        'not-a-file',
      );
    }
    expect((await act({ action: 'grep', pattern: 'x' })).matches).toEqual([]);
    expect((await act({ action: 'list' })).entries.map(({ type }) => type)).toContain('fifo');
    expect(await codeOf(act({ action: 'copy', from: 'fifo', to: 'other' }))).toBe('not-a-file');
    expect(await act({ action: 'remove', path: 'fifo' })).toMatchObject({ removed: true });
  });
});

describe('write', () => {
  it('makes parents, replaces whole, and keeps the mode of what it replaces', async () => {
    const { root, act } = makeScratch();
    const path = 'a/b/c.sh';
    expect(await act({ action: 'write', path, content: 'one' })).toMatchObject({
      created: true,
      sizeBytes: 3,
    });
    expect(statSync(join(root, path)).mode & 0o777).toBe(0o644);
    await act({ action: 'write', path, content: 'two', mode: 0o755 });
    expect(await act({ action: 'write', path, content: 'dGhyZWU=', encoding: 'base64' })).toMatchObject({
      created: false,
    });
    expect(statSync(join(root, path)).mode & 0o777).toBe(0o755);
    expect(readFileSync(join(root, path), 'utf8')).toBe('three');
    expect(readdirSync(join(root, 'a/b'))).toEqual(['c.sh']);
  });

  it('appends to a name of its own where the file has further ones', async () => {
    const { root, act } = makeScratch();
    writeFileSync(join(root, 'store'), 'a\n', { mode: 0o640 });
    linkSync(join(root, 'store'), join(root, 'linked'));
    const appended = await act({ action: 'write', path: 'linked', content: 'b\n', append: true });
    expect(appended).toMatchObject({ sizeBytes: 4, created: false });
    expect(readFileSync(join(root, 'linked'), 'utf8')).toBe('a\nb\n');
    expect(readFileSync(join(root, 'store'), 'utf8')).toBe('a\n');
    expect(statSync(join(root, 'linked')).mode & 0o777).toBe(0o640);
  });

  it('appends', async () => {
    const { root, act } = makeScratch();
    expect(await act({ action: 'write', path: 'log', content: 'a\n', append: true })).toMatchObject({
      created: true,
      sizeBytes: 2,
    });
    expect(await act({ action: 'write', path: 'log', content: 'b\n', append: true })).toMatchObject({
      created: false,
      sizeBytes: 4,
    });
    expect(readFileSync(join(root, 'log'), 'utf8')).toBe('a\nb\n');
  });

  it('writes through a link to its target', async () => {
    const { root, act } = makeScratch();
    mkdirSync(join(root, 'data'));
    symlinkSync('data/new.txt', join(root, 'link'));
    await act({ action: 'write', path: 'link', content: 'x' });
    expect(lstatSync(join(root, 'link')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(root, 'data/new.txt'), 'utf8')).toBe('x');
  });

  it('leaves no temporary file when it fails', async () => {
    const { root, act } = makeScratch();
    writeFileSync(join(root, 'file'), 'x');
    mkdirSync(join(root, 'directory'));
    expect(await codeOf(act({ action: 'write', path: 'directory', content: 'x' }))).toBe('not-a-file');
    expect(await codeOf(act({ action: 'write', path: 'new/', content: 'x' }))).toBe('not-a-file');
    expect(await codeOf(act({ action: 'write', path: 'file/below', content: 'x' }))).toBe('not-a-directory');
    expect(await codeOf(act({ action: 'write', path: 'n'.repeat(300), content: 'x' }))).toBe(
      'invalid-action',
    );
    expect(
      await codeOf(act({ action: 'write', path: 'file', content: 'no base64!', encoding: 'base64' })),
    ).toBe('invalid-action');
    expect(readdirSync(root)).toEqual(['directory', 'file', 'workspace']);
  });
});

describe('list and stat', () => {
  it('sorts by code point and goes as deep as asked', async () => {
    const { root, act } = makeScratch({ whole: true });
    const at = join(root, 'workspace');
    for (const name of ['b', 'B', 'a-b', '\u{1F600}', '\uFB01', 'ä']) writeFileSync(join(at, name), '');
    mkdirSync(join(at, 'a/inner'), { recursive: true });
    writeFileSync(join(at, 'a/inner/x'), 'xx');
    const flat = await act({ action: 'list' });
    expect(flat.entries.map(({ name }) => name)).toEqual(['B', 'a', 'a-b', 'b', 'ä', '\uFB01', '\u{1F600}']);
    expect(flat).toMatchObject({ path: '/workspace', truncated: false });
    const deep = await act({ action: 'list', path: '.', depth: 3 });
    expect(deep.entries.map(({ path }) => path).slice(0, 4)).toEqual([
      '/workspace/B',
      '/workspace/a',
      '/workspace/a/inner',
      '/workspace/a/inner/x',
    ]);
    expect(await act({ action: 'list', depth: 3, limit: 2 })).toMatchObject({
      truncated: true,
      entries: { length: 2 },
    });
    expect(await codeOf(act({ action: 'list', path: 'b' }))).toBe('not-a-directory');
    expect(await codeOf(act({ action: 'list', path: 'missing' }))).toBe('not-found');
  });

  it('does not follow the last link', async () => {
    const { root, act } = makeScratch();
    symlinkSync('nowhere', join(root, 'link'));
    expect(await act({ action: 'stat', path: 'link' })).toMatchObject({ type: 'symlink', target: 'nowhere' });
    expect(await codeOf(act({ action: 'stat', path: 'nowhere' }))).toBe('not-found');
  });

  it('lists and removes names that are not valid UTF-8', async () => {
    const { root, act } = makeScratch();
    mkdirSync(join(root, 'odd'));
    writeFileSync(Buffer.concat([Buffer.from(join(root, 'odd/')), Buffer.from([0xff, 0xfe])]), 'x');
    expect((await act({ action: 'list', path: 'odd' })).entries).toMatchObject([
      { name: '\uFFFD\uFFFD', sizeBytes: 1 },
    ]);
    expect((await act({ action: 'copy', from: 'odd', to: 'odd2' })).files).toBe(1);
    expect(readdirSync(join(root, 'odd2'), 'buffer')).toEqual([Buffer.from([0xff, 0xfe])]);
    await act({ action: 'remove', path: 'odd', recursive: true });
    expect(existsSync(join(root, 'odd'))).toBe(false);
  });
});

describe('make_dir and remove', () => {
  it('makes parents and is content with what exists', async () => {
    const { root, act } = makeScratch();
    expect(await act({ action: 'make_dir', path: 'a/b', mode: 0o700 })).toMatchObject({ created: true });
    expect(statSync(join(root, 'a/b')).mode & 0o777).toBe(0o700);
    expect(await act({ action: 'make_dir', path: 'a/b' })).toMatchObject({ created: false });
    expect(await act({ action: 'make_dir', path: '.' })).toMatchObject({ created: false });
    writeFileSync(join(root, 'file'), '');
    expect(await codeOf(act({ action: 'make_dir', path: 'file' }))).toBe('already-exists');
  });

  it('removes a tree but not what its links point to, and never the root', async () => {
    const { root, outside, act } = makeScratch();
    mkdirSync(join(root, 'tree/deep'), { recursive: true });
    writeFileSync(join(root, 'tree/deep/file'), '');
    symlinkSync(outside, join(root, 'tree/deep/link'));
    expect(await codeOf(act({ action: 'remove', path: 'tree' }))).toBe('directory-not-empty');
    expect(await act({ action: 'remove', path: 'tree/', recursive: true })).toMatchObject({ removed: true });
    expect(existsSync(join(root, 'tree'))).toBe(false);
    expect(readdirSync(outside)).toEqual(['secret.txt']);
    expect(await codeOf(act({ action: 'remove', path: 'tree' }))).toBe('not-found');
    expect(await act({ action: 'remove', path: 'tree/x', force: true })).toMatchObject({ removed: false });
    for (const path of ['.', root, 'workspace/..']) {
      expect(await codeOf(act({ action: 'remove', path, recursive: true }))).toBe('permission-denied');
    }
  });

  it('removes a tree that is thousands of levels deep', async () => {
    const { root, act } = makeScratch();
    execFileSync(
      'bash',
      ['-c', 'for i in {1..12}; do p=$(printf "d/%.0s" {1..200}); mkdir -p $p; cd $p; done; touch x'],
      {
        cwd: join(root, 'workspace'),
      },
    );
    expect((await act({ action: 'list', path: '.', depth: 64 })).entries).toHaveLength(64);
    expect((await act({ action: 'glob', pattern: '*' })).paths).toEqual([]);
    expect(await codeOf(act({ action: 'copy', from: 'workspace', to: 'copy' }))).toBe('invalid-action');
    await act({ action: 'remove', path: 'workspace', recursive: true });
    expect(readdirSync(root)).toEqual([]);
  });
});

describe('move and copy', () => {
  it('moves files and directories, and overwrites only on request', async () => {
    const { root, act } = makeScratch();
    mkdirSync(join(root, 'from/sub'), { recursive: true });
    writeFileSync(join(root, 'from/sub/a'), 'a');
    mkdirSync(join(root, 'to'));
    writeFileSync(join(root, 'to/old'), 'old');
    expect(await codeOf(act({ action: 'move', from: 'from', to: 'to' }))).toBe('already-exists');
    expect(await act({ action: 'move', from: 'from', to: 'to', overwrite: true })).toMatchObject({
      to: join(root, 'to'),
    });
    expect(readdirSync(join(root, 'to'))).toEqual(['sub']);
    await act({ action: 'move', from: 'to/sub/a', to: 'new/place/b' });
    expect(readFileSync(join(root, 'new/place/b'), 'utf8')).toBe('a');
    expect(await codeOf(act({ action: 'move', from: 'to', to: 'to/sub/x' }))).toBe('invalid-action');
    expect(await codeOf(act({ action: 'move', from: 'missing', to: 'x' }))).toBe('not-found');
    expect(await act({ action: 'move', from: 'to', to: 'to', overwrite: true })).toMatchObject({
      from: join(root, 'to'),
    });
    expect(readdirSync(root)).toEqual(['new', 'to', 'workspace']);
  });

  it('copies whole directories with links as links, all or nothing', async () => {
    const { root, act } = makeScratch();
    mkdirSync(join(root, 'from/sub'), { recursive: true });
    writeFileSync(join(root, 'from/sub/run.sh'), 'x', { mode: 0o755 });
    linkSync(join(root, 'from/sub/run.sh'), join(root, 'from/hard'));
    symlinkSync('../outside', join(root, 'from/link'));
    expect(await act({ action: 'copy', from: 'from', to: 'to' })).toMatchObject({ files: 3 });
    expect(readlinkSync(join(root, 'to/link'))).toBe('../outside');
    expect(statSync(join(root, 'to/sub/run.sh')).mode & 0o777).toBe(0o755);
    expect(await codeOf(act({ action: 'copy', from: 'from', to: 'from/sub/in' }))).toBe('invalid-action');
    execFileSync('mkfifo', [join(root, 'from/sub/zz')]);
    expect(await codeOf(act({ action: 'copy', from: 'from', to: 'to', overwrite: true }))).toBe('not-a-file');
    expect(readdirSync(root)).toEqual(['from', 'to', 'workspace']);
    expect(readdirSync(join(root, 'to'))).toEqual(['hard', 'link', 'sub']);
  });
});
