import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { type TarMember, writeTar } from '../../../base/tar-writer.js';
import { expect } from '../expect.js';
import { type Behaviours, collect, refusal, sh } from '../given.js';

export const transferBehaviours: Behaviours = {
  'transfer.file': async ({ runtime }) => {
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, index) => (index * 31) % 256));
    expect(await runtime.files.upload(bytes, 'in/blob')).toMatchObject({ files: 1, sizeBytes: bytes.length });
    const { content, sizeBytes } = await runtime.files.download('in/blob');
    expect(sizeBytes).toBe(bytes.length);
    expect((await collect(content)).equals(bytes)).toBe(true);
    await runtime.files.upload(Buffer.from('#!/bin/bash\necho uploaded\n'), 'program', { mode: 0o755 });
    expect(await sh(runtime, './program')).toBe('uploaded\n');
    await refusal(runtime.files.download('missing'), 'not-found');
  },

  'transfer.range': async ({ runtime }) => {
    await runtime.write('digits', '0123456789');
    const { content, sizeBytes } = await runtime.files.download('digits', { start: 2, end: 5 });
    expect(sizeBytes).toBe(10);
    expect((await collect(content)).toString()).toBe('2345');
    expect((await collect((await runtime.files.download('digits', { start: 8 })).content)).toString()).toBe(
      '89',
    );
  },

  'transfer.large': async ({ runtime }) => {
    const chunk = Buffer.alloc(1024 * 1024, 'workcell');
    const sent = createHash('sha256');
    await runtime.files.upload(
      (async function* () {
        for (let index = 0; index < 64; index++) {
          sent.update(chunk);
          yield chunk;
        }
      })(),
      'large',
    );
    const sum = sent.digest('hex');
    expect(await sh(runtime, 'sha256sum < large')).toContain(sum);
    const received = createHash('sha256');
    for await (const piece of (await runtime.files.download('large')).content) received.update(piece);
    expect(received.digest('hex')).toBe(sum);
  },

  'transfer.tar': async ({ runtime }) => {
    await sh(
      runtime,
      'mkdir -p tree/sub "tree/odd é"; echo a > tree/a; echo b > tree/sub/b; chmod 755 tree/a; echo c > "tree/odd é/c"',
    );
    const archive = await collect((await runtime.files.download('tree', { format: 'tar' })).content);
    expect(archive.length % 512).toBe(0);
    const { files } = await runtime.files.upload(archive, 'copy', { format: 'tar' });
    expect(files).toBe(3);
    expect(await sh(runtime, 'diff -r tree copy/tree 2>/dev/null || diff -r tree copy; echo same')).toBe(
      'same\n',
    );
    expect(await sh(runtime, 'find copy -name a -perm 755 | wc -l')).toBe('1\n');
  },

  'transfer.zip': async ({ runtime }) => {
    await sh(runtime, 'mkdir -p tree/sub; echo a > tree/a; echo b > tree/sub/b; ln -s a tree/link');
    const archive = await collect((await runtime.files.download('tree', { format: 'zip' })).content);
    expect(archive.subarray(0, 2).toString()).toBe('PK');
    await runtime.files.upload(archive, 'copy', { format: 'zip' });
    expect(await sh(runtime, '(diff -r tree copy/tree 2>/dev/null || diff -r tree copy) && echo same')).toBe(
      'same\n',
    );
  },

  'transfer.hostile-archive': async ({ runtime }) => {
    const hostile: TarMember[][] = [
      [{ name: '../escaped', type: 'file' }],
      [{ name: '/tmp/workcell-escaped', type: 'file' }],
      [{ name: 'a/../../escaped', type: 'file' }],
      [
        { name: 'door', type: 'symlink', linkname: '..' },
        { name: 'door/escaped', type: 'file' },
      ],
      [{ name: 'device', type: 'character-device' }],
    ];
    for (const members of hostile) {
      await refusal(
        runtime.files.upload(await tarOf(members), 'target/inner', { format: 'tar' }),
        'archive-refused',
      );
    }
    const found = await runtime.files.glob('*escaped*', { hidden: true, ignored: true });
    expect(found).toEqual([]);
  },

  'transfer.broken-archive': async ({ runtime }) => {
    const noise = Buffer.alloc(4096, 'this is no archive ');
    await refusal(runtime.files.upload(noise, 'target', { format: 'tar' }), 'archive-refused');
    await refusal(runtime.files.upload(noise, 'target', { format: 'zip' }), 'archive-refused');
  },

  'transfer.directory-plain': async ({ runtime }) => {
    await runtime.files.makeDir('folder');
    await refusal(runtime.files.download('folder'), 'not-a-file');
  },
};

function tarOf(members: readonly TarMember[]): Promise<Buffer> {
  const text = Buffer.from('gotcha');
  return buffer(writeTar(members.map((member) => ({ ...member, size: text.length, content: [text] }))));
}
