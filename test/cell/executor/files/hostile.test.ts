import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { download } from '../../../../src/cell/executor/files/download-files.js';
import { upload } from '../../../../src/cell/executor/files/upload-files.js';
import { WorkcellError } from '../../../../src/protocol/index.js';
import { makeScratch, secret } from './scratch.js';

it('writes and reads back any name and any content, as node:fs sees them', async () => {
  const { root, act } = makeScratch();
  const character = fc.oneof(
    fc.constantFrom(
      ...'\'"`$\\ \t\n\r*?[]{}()<>|&;!#~%^=+-_.,:@',
      '\x01',
      '\x1b',
      '\x7f',
      '\u0301',
      '\u202e',
      '\u{1F600}',
      'é',
      '字',
    ),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }).filter((text) => !/[/\0]/.test(text)),
  );
  const name = fc
    .array(character, { minLength: 1, maxLength: 12 })
    .map((parts) => parts.join(''))
    .filter((text) => text !== '.' && text !== '..' && Buffer.byteLength(text) <= 255);
  const content = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.uint8Array({ maxLength: 60 }),
    fc.constantFrom(
      Uint8Array.of(0xff, 0xfe),
      Uint8Array.of(0xfe, 0xff, 0, 65),
      Uint8Array.of(0xef, 0xbb, 0xbf),
    ),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(name, { minLength: 1, maxLength: 3 }),
      content,
      fc.nat(),
      async (names, data, salt) => {
        const path = [`case-${salt}`, ...names].join('/');
        const bytes = typeof data === 'string' ? Buffer.from(data) : Buffer.from(data);
        const encoding = typeof data === 'string' ? 'utf8' : 'base64';
        const sent = typeof data === 'string' ? data : bytes.toString('base64');
        await act({ action: 'write', path, content: sent, encoding });
        expect(readFileSync(join(root, path))).toEqual(bytes);
        const exact = await act({ action: 'read', path, encoding: 'base64' });
        expect(Buffer.from(exact.content, 'base64')).toEqual(bytes);
        const read = await act({ action: 'read', path });
        // A file with a mark of UTF-16 comes as its text.
        const mark = bytes.toString('latin1', 0, 2);
        const isWide = bytes.length % 2 === 0 && ['\xff\xfe', '\xfe\xff'].includes(mark);
        if (!isWide) expect(Buffer.from(read.content, read.encoding)).toEqual(bytes);
        const { entries } = await act({ action: 'list', path: dirname(path) });
        expect(entries.map((entry) => entry.name)).toContain(names.at(-1));
        await act({ action: 'remove', path: `case-${salt}`, recursive: true });
        expect(existsSync(join(root, `case-${salt}`))).toBe(false);
      },
    ),
    { numRuns: 1000 },
  );
}, 120_000);

/** Swaps a directory and a link to the outside as fast as it can, until its input ends. */
const swapper = `
const fs = require('node:fs');
process.stdin.resume().on('end', () => process.exit());
function swap() {
  for (let round = 0; round < 200; round++) {
    try { fs.renameSync('swap', 'parked'); } catch {}
    try { fs.renameSync('link', 'swap'); } catch {}
    try { fs.renameSync('swap', 'link'); } catch {}
    try { fs.renameSync('parked', 'swap'); } catch {}
    try { fs.renameSync('swap/file', 'swap/aside'); } catch {}
    try { fs.symlinkSync('../../outside/secret.txt', 'swap/file'); } catch {}
    try { fs.renameSync('swap/aside', 'swap/file'); } catch {}
  }
  setImmediate(swap);
}
process.stdout.write('ready');
swap();
`;

it('never reaches outside while a process swaps directories, files and links', async () => {
  const { root, outside, tree, act } = makeScratch();
  mkdirSync(join(root, 'swap/deeper'), { recursive: true });
  mkdirSync(join(outside, 'deeper'));
  writeFileSync(join(root, 'swap/file'), 'inside');
  writeFileSync(join(root, 'swap/secret.txt'), 'inside');
  writeFileSync(join(outside, 'file'), secret);
  symlinkSync('../outside', join(root, 'link'));
  const child = spawn(process.execPath, ['-e', swapper], { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');

  const seen: string[] = [];
  const attempt = async (work: () => Promise<unknown>) => {
    try {
      seen.push(JSON.stringify(await work()));
    } catch (error) {
      if (!WorkcellError.isInstance(error)) throw error;
      expect(error.code, error.message).not.toBe('internal');
    }
  };
  for (let round = 0; round < 300; round++) {
    await attempt(() => act({ action: 'read', path: 'swap/file' }));
    await attempt(() => act({ action: 'read', path: 'swap/secret.txt' }));
    await attempt(() => act({ action: 'write', path: 'swap/written', content: 'x' }));
    await attempt(() => act({ action: 'write', path: 'swap/deeper/appended', content: 'x', append: true }));
    await attempt(() =>
      act({ action: 'edit', path: 'swap/file', oldText: 'e', newText: 'i', replaceAll: true }),
    );
    await attempt(() => act({ action: 'list', path: 'swap', depth: 3 }));
    await attempt(() => act({ action: 'make_dir', path: `swap/made-${round % 3}` }));
    await attempt(() => act({ action: 'remove', path: 'swap/deeper', recursive: true }));
    await attempt(() => act({ action: 'make_dir', path: 'swap/deeper' }));
    await attempt(() => act({ action: 'copy', from: 'swap', to: 'copied', overwrite: true }));
    await attempt(() => act({ action: 'move', from: 'swap/written', to: 'swap/moved', overwrite: true }));
    await attempt(() => act({ action: 'grep', pattern: 'inside|secret' }));
    await attempt(async () =>
      (await buffer(Readable.from((await download(tree, 'swap/file', {})).content))).toString(),
    );
    await attempt(() => upload(tree, 'swap/uploaded', Readable.from([Buffer.from('x')]), {}));
    await attempt(async () => {
      const { content } = await download(tree, '.', { format: 'tar' });
      return (await buffer(Readable.from(content))).toString('latin1');
    });
  }
  child.stdin.end();
  await once(child, 'exit');
  expect(seen.join('\n')).not.toContain(secret);
  expect(seen.length).toBeGreaterThan(300);
  expect(readdirSync(outside).sort()).toEqual(['deeper', 'file', 'secret.txt']);
  expect(readdirSync(join(outside, 'deeper'))).toEqual([]);
  expect(readFileSync(join(outside, 'file'), 'utf8')).toBe(secret);
}, 120_000);

it('keeps no descriptor open, whether verbs succeed or fail', async () => {
  const { root, tree, act } = makeScratch();
  mkdirSync(join(root, 'a/b'), { recursive: true });
  writeFileSync(join(root, 'a/b/file'), 'text');
  symlinkSync('../../outside', join(root, 'a/out'));
  const settle = (work: Promise<unknown>) => work.catch(() => undefined);
  const everything = async () => {
    for (const path of [
      'a/b/file',
      'a/b',
      'missing/x',
      'a/out/secret.txt',
      'a/b/file/x',
      '.',
      'a/../a/b/../b/file',
    ]) {
      await settle(act({ action: 'read', path }));
      await settle(act({ action: 'read', path, maxBytes: 1 }));
      await settle(act({ action: 'read', path, maxBytes: 1, startLine: 1 }));
      await settle(act({ action: 'write', path, content: 'text' }));
      await settle(act({ action: 'write', path, content: '', append: true }));
      await settle(act({ action: 'edit', path, oldText: 'nothing', newText: 'x' }));
      await settle(act({ action: 'edit', path, oldText: 'text', newText: 'text2' }));
      await settle(act({ action: 'list', path, depth: 5, limit: 1 }));
      await settle(act({ action: 'stat', path }));
      await settle(act({ action: 'make_dir', path }));
      await settle(act({ action: 'copy', from: path, to: 'copied', overwrite: true }));
      await settle(act({ action: 'move', from: 'copied', to: 'moved', overwrite: true }));
      await settle(act({ action: 'remove', path: 'moved', recursive: true }));
      await settle(act({ action: 'glob', path, pattern: '**', limit: 1 }));
      await settle(act({ action: 'grep', path, pattern: '.', limit: 1 }));
      await settle(act({ action: 'watch', path }, { signal: AbortSignal.abort() }));
      await settle(download(tree, path, {}));
      await settle(
        download(tree, path, { format: 'tar' }).then(({ content }) => buffer(Readable.from(content))),
      );
      await settle(
        download(tree, path, { format: 'zip' }).then(({ content }) => buffer(Readable.from(content))),
      );
      await settle(upload(tree, path, Readable.from([Buffer.from('x')]), {}));
      await settle(upload(tree, path, Readable.from([Buffer.from('no archive')]), { format: 'tar' }));
      await settle(upload(tree, path, Readable.from([Buffer.from('no archive')]), { format: 'zip' }));
    }
  };
  await everything();
  const before = readdirSync('/proc/self/fd').length;
  for (let round = 0; round < 5; round++) await everything();
  expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before);
});
