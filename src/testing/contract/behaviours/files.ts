import type { FileChange } from '../../../index.js';
import { expect } from '../expect.js';
import { type Behaviours, eventually, refusal, sh } from '../given.js';

const oddNames = [
  `it's "quoted"`,
  'new\nline',
  'emoji 🚀 é',
  '-dash',
  'back\\slash $HOME',
  ' spaces ',
  '*',
  '%s',
  '~',
  '#x',
];

export const fileBehaviours: Behaviours = {
  'files.round-trip': async ({ runtime }) => {
    const content = 'first\nsecond ✓\n\nlast without newline';
    const written = await runtime.write('note.txt', content);
    expect(written).toMatchObject({ sizeBytes: Buffer.byteLength(content), created: true });
    expect((await runtime.write('note.txt', content)).created).toBe(false);
    expect(await runtime.read('note.txt')).toMatchObject({
      content,
      encoding: 'utf8',
      mediaType: 'text/plain',
      sizeBytes: Buffer.byteLength(content),
      totalLines: 4,
    });
    await runtime.write('empty', '');
    expect((await runtime.read('empty')).content).toBe('');
    expect((await runtime.read(`${runtime.workspace}/note.txt`)).content).toBe(content);
  },

  'files.bytes': async ({ runtime }) => {
    const bytes = Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 7) % 256));
    await runtime.write('blob.bin', bytes);
    const back = await runtime.read('blob.bin');
    expect(back.encoding).toBe('base64');
    expect(Buffer.from(back.content, 'base64').equals(bytes)).toBe(true);
    await runtime.write('text', 'é');
    expect(await runtime.read('text', { encoding: 'base64' })).toMatchObject({
      encoding: 'base64',
      content: 'w6k=',
    });
  },

  'files.parents': async ({ runtime }) => {
    await runtime.write('a/b/c/deep.txt', 'x');
    expect((await runtime.read('a/b/c/deep.txt')).content).toBe('x');
    await runtime.write('plain', 'x');
    await refusal(runtime.write('plain/below', 'x'), 'not-a-directory');
  },

  'files.append': async ({ runtime }) => {
    await runtime.write('log', 'one\n');
    await runtime.write('log', 'two\n', { append: true });
    expect((await runtime.read('log')).content).toBe('one\ntwo\n');
    await runtime.write('new-log', 'start', { append: true });
    expect((await runtime.read('new-log')).content).toBe('start');
  },

  'files.mode': async ({ runtime }) => {
    await runtime.write('script', '#!/bin/bash\necho ran\n', { mode: 0o755 });
    expect(await sh(runtime, './script')).toBe('ran\n');
    await runtime.write('script', '#!/bin/bash\necho ran again\n');
    expect((await runtime.files.stat('script')).mode).toBe(0o755);
    expect(await sh(runtime, './script')).toBe('ran again\n');
    await runtime.write('plain', 'x');
    expect((await runtime.files.stat('plain')).mode).toBe(0o644);
  },

  'files.atomic': async ({ runtime }) => {
    const versions = ['a'.repeat(300_000), 'b'.repeat(300_000)];
    await runtime.write('swap', versions[0] as string);
    const writes = Array.from(
      { length: 20 },
      (_, index) => () => runtime.write('swap', versions[index % 2] as string),
    );
    let done = false;
    const writer = (async () => {
      for (const write of writes) await write();
      done = true;
    })();
    while (!done) expect(versions).toContain((await runtime.read('swap')).content);
    await writer;
    expect((await runtime.files.list()).map(({ name }) => name)).toEqual(['swap']);
  },

  'files.lines': async ({ runtime }) => {
    await runtime.write('lines', 'one\ntwo\nthree\nfour\n');
    expect(await runtime.read('lines', { startLine: 2, endLine: 3 })).toMatchObject({
      content: 'two\nthree\n',
      startLine: 2,
      endLine: 3,
      totalLines: 4,
    });
    expect((await runtime.read('lines', { startLine: 4 })).content).toBe('four\n');
    expect((await runtime.read('lines', { endLine: 1 })).content).toBe('one\n');
    expect((await runtime.read('lines', { startLine: 3, endLine: 100 })).content).toBe('three\nfour\n');
  },

  'files.media-type': async ({ runtime }) => {
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==',
      'base64',
    );
    await runtime.write('dot.png', png);
    expect(await runtime.read('dot.png')).toMatchObject({ encoding: 'base64', mediaType: 'image/png' });
    await runtime.write('page.pdf', Buffer.from('%PDF-1.4\n%\xe2\xe3\xcf\xd3\n', 'latin1'));
    expect(await runtime.read('page.pdf')).toMatchObject({
      encoding: 'base64',
      mediaType: 'application/pdf',
    });
  },

  'files.too-large': async ({ runtime }) => {
    await runtime.write('big', 'x'.repeat(5000));
    const error = await refusal(runtime.read('big', { maxBytes: 1000 }), 'file-too-large');
    expect(error.message).toMatch(/1000|1,000/);
    await sh(runtime, 'truncate -s 3G sparse');
    await refusal(runtime.read('sparse'), 'file-too-large');
    expect((await runtime.read('big')).content.length).toBe(5000);
  },

  'files.not-found': async ({ runtime }) => {
    const error = await refusal(runtime.read('missing.txt'), 'not-found');
    expect(error.message).toContain('missing.txt');
    await refusal(runtime.read('no/such/folder/file'), 'not-found');
    await refusal(runtime.files.stat('missing.txt'), 'not-found');
    await refusal(runtime.files.list('missing'), 'not-found');
  },

  'files.not-a-file': async ({ runtime }) => {
    await sh(runtime, 'mkdir folder; mkfifo pipe');
    await refusal(runtime.read('folder'), 'not-a-file');
    await refusal(runtime.read('pipe'), 'not-a-file');
    await refusal(runtime.edit('pipe', { oldText: 'a', newText: 'b' }), 'not-a-file');
    await refusal(runtime.write('folder', 'x'), 'not-a-file');
    await runtime.write('plain', 'x');
    await refusal(runtime.files.list('plain'), 'not-a-directory');
  },

  'files.odd-names': async ({ runtime }) => {
    for (const name of oddNames) {
      await runtime.write(name, `content of ${name}`);
      expect((await runtime.read(name)).content, JSON.stringify(name)).toBe(`content of ${name}`);
    }
    expect((await runtime.files.list()).map(({ name }) => name).sort()).toEqual([...oddNames].sort());
  },

  'files.shell-agrees': async ({ runtime }) => {
    await runtime.write('from-api', 'api\n');
    expect(await sh(runtime, 'cat from-api && echo shell > from-shell')).toBe('api\n');
    expect((await runtime.read('from-shell')).content).toBe('shell\n');
    await sh(runtime, 'mkdir sub && cd sub');
    // A relative path starts at the workspace, wherever a shell stands.
    expect((await runtime.read('from-api')).content).toBe('api\n');
  },

  'files.list': async ({ runtime }) => {
    await sh(
      runtime,
      'mkdir -p b/inner; echo x > b/inner/deep; echo x > c; echo x > a; ln -s a link; echo x > .hidden',
    );
    const entries = await runtime.files.list();
    expect(entries.map(({ name, type }) => [name, type])).toEqual([
      ['.hidden', 'file'],
      ['a', 'file'],
      ['b', 'directory'],
      ['c', 'file'],
      ['link', 'symlink'],
    ]);
    expect((await runtime.files.list('b', { depth: 2 })).map(({ name }) => name)).toEqual(['inner', 'deep']);
    const limited = await runtime.execute({ action: 'list', limit: 2 });
    expect(limited).toMatchObject({ truncated: true });
    expect(limited.entries).toHaveLength(2);
  },

  'files.stat': async ({ runtime }) => {
    await sh(runtime, 'printf 12345 > file; chmod 640 file; mkdir folder; ln -s file link; mkfifo pipe');
    expect(await runtime.files.stat('file')).toMatchObject({ type: 'file', sizeBytes: 5, mode: 0o640 });
    expect(await runtime.files.stat('folder')).toMatchObject({ type: 'directory' });
    expect(await runtime.files.stat('link')).toMatchObject({ type: 'symlink', target: 'file' });
    expect(await runtime.files.stat('pipe')).toMatchObject({ type: 'fifo' });
    expect(Math.abs((await runtime.files.stat('file')).modifiedAt - Date.now())).toBeLessThan(60_000);
  },

  'files.exists': async ({ runtime }) => {
    await runtime.write('here', 'x');
    expect(await runtime.files.exists('here')).toBe(true);
    expect(await runtime.files.exists('.')).toBe(true);
    expect(await runtime.files.exists('not-here')).toBe(false);
    expect(await runtime.files.exists('here/below')).toBe(false);
  },

  'files.make-dir': async ({ runtime }) => {
    expect(await runtime.files.makeDir('x/y/z')).toMatchObject({ created: true });
    expect(await runtime.files.makeDir('x/y/z')).toMatchObject({ created: false });
    await runtime.files.makeDir('private', { mode: 0o700 });
    expect((await runtime.files.stat('private')).mode).toBe(0o700);
    await runtime.write('plain', 'x');
    await refusal(runtime.files.makeDir('plain'), 'already-exists');
  },

  'files.remove': async ({ runtime }) => {
    await sh(runtime, 'mkdir -p full/inner empty; echo x > full/inner/file; echo x > file; ln -s full link');
    expect(await runtime.files.remove('file')).toMatchObject({ removed: true });
    await runtime.files.remove('empty');
    await runtime.files.remove('link');
    await refusal(runtime.files.remove('full'), 'directory-not-empty');
    await runtime.files.remove('full', { recursive: true });
    expect(await runtime.files.list()).toEqual([]);
    await refusal(runtime.files.remove('file'), 'not-found');
    expect(await runtime.files.remove('file', { force: true })).toMatchObject({ removed: false });
  },

  'files.move': async ({ runtime }) => {
    await sh(runtime, 'echo a > a; echo b > b; mkdir folder; echo in > folder/in');
    await refusal(runtime.files.move('a', 'b'), 'already-exists');
    expect((await runtime.read('b')).content).toBe('b\n');
    await runtime.files.move('a', 'b', { overwrite: true });
    expect((await runtime.read('b')).content).toBe('a\n');
    await runtime.files.move('folder', 'renamed');
    expect((await runtime.read('renamed/in')).content).toBe('in\n');
    expect((await runtime.files.list()).map(({ name }) => name)).toEqual(['b', 'renamed']);
    await refusal(runtime.files.move('missing', 'elsewhere'), 'not-found');
  },

  'files.copy': async ({ runtime }) => {
    await sh(
      runtime,
      'mkdir -p tree/sub; echo x > tree/sub/file; chmod 750 tree/sub/file; ln -s sub/file tree/link; echo o > other',
    );
    const copied = await runtime.files.copy('tree', 'twin');
    expect(copied.files).toBeGreaterThanOrEqual(1);
    expect((await runtime.read('twin/sub/file')).content).toBe('x\n');
    expect((await runtime.files.stat('twin/sub/file')).mode).toBe(0o750);
    expect(await runtime.files.stat('twin/link')).toMatchObject({ type: 'symlink', target: 'sub/file' });
    await refusal(runtime.files.copy('other', 'twin/sub/file'), 'already-exists');
    await runtime.files.copy('other', 'twin/sub/file', { overwrite: true });
    expect((await runtime.read('twin/sub/file')).content).toBe('o\n');
    expect((await runtime.read('tree/sub/file')).content).toBe('x\n');
  },

  'files.links': async ({ runtime }) => {
    await sh(
      runtime,
      'mkdir real; echo x > real/file; ln -s real alias; ln -s real/file direct; ln -s loop loop',
    );
    expect((await runtime.read('alias/file')).content).toBe('x\n');
    expect((await runtime.read('direct')).content).toBe('x\n');
    await runtime.write('alias/new', 'y');
    expect((await runtime.read('real/new')).content).toBe('y');
    await runtime.read('loop').then(
      () => expect.unreachable(),
      (error) =>
        expect(['not-found', 'not-a-file', 'path-outside', 'permission-denied']).toContain(error.code),
    );
  },

  'files.watch': async ({ runtime }) => {
    await runtime.files.makeDir('watched');
    const seen: FileChange[] = [];
    const changes = await runtime.files.watch('watched');
    const reader = (async () => {
      for await (const change of changes) {
        seen.push(change);
        if (change.path.endsWith('last')) break;
      }
    })();
    const has = (change: string, name: string) =>
      seen.some((entry) => entry.change === change && entry.path.endsWith(name));
    await runtime.write('watched/file', 'one');
    await eventually(() => has('created', 'file'), 'created is reported');
    await sh(runtime, 'echo two >> watched/file');
    await eventually(() => has('modified', 'file'), 'modified is reported');
    await runtime.files.remove('watched/file');
    await eventually(() => has('removed', 'file'), 'removed is reported');
    await runtime.write('watched/last', 'x');
    await reader;
    const controller = new AbortController();
    const aborted = await runtime.files.watch('watched', { signal: controller.signal });
    controller.abort();
    for await (const _change of aborted) expect.unreachable();
    await refusal(runtime.files.watch('missing'), 'not-found');
  },

  'files.outside': async ({ runtime }) => {
    await runtime.files.makeDir('a');
    for (const path of ['/etc/passwd', '../other', 'a/../../other', `${runtime.workspace}/../x`, '/']) {
      await refusal(runtime.read(path), 'path-outside');
    }
    await refusal(runtime.write('../escaped', 'x'), 'path-outside');
    await refusal(runtime.files.remove('../escaped', { force: true }), 'path-outside');
    await refusal(runtime.files.list('..'), 'path-outside');
    await runtime.write('inside', 'x');
    await refusal(runtime.files.move('inside', '../escaped'), 'path-outside');
    await refusal(runtime.files.copy('/etc/passwd', 'stolen'), 'path-outside');
    // The permitted neighbour: a path that goes up and comes back.
    expect((await runtime.read('a/../inside')).content).toBe('x');
  },

  'files.outside-link': async ({ runtime }) => {
    await sh(
      runtime,
      'ln -s /etc/passwd secrets; ln -s / everything; ln -s ../.. up; echo x > inside; ln -s inside fine',
    );
    await refusal(runtime.read('secrets'), 'path-outside');
    await refusal(runtime.read('everything/etc/passwd'), 'path-outside');
    await refusal(runtime.read('up/file'), 'path-outside');
    await refusal(runtime.write('everything/tmp/escaped', 'x'), 'path-outside');
    await refusal(runtime.files.list('everything'), 'path-outside');
    expect((await runtime.read('fine')).content).toBe('x\n');
    expect(await runtime.files.stat('secrets')).toMatchObject({ type: 'symlink', target: '/etc/passwd' });
    await runtime.files.remove('secrets');
  },
};
