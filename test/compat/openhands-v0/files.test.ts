import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer, type TestServer } from './server.js';

const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk', 'base64');

let server: TestServer;
beforeAll(() => {
  server = startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

describe('read', () => {
  test('the observation has exactly the keys that a client knows', async () => {
    writeFileSync(server.path('plain.txt'), 'one\ntwo\n');
    expect(await server.act('read', { path: server.path('plain.txt') })).toEqual({
      observation: 'read',
      content: 'one\ntwo\n',
      extras: { path: server.path('plain.txt'), impl_source: 'default' },
      message: expect.any(String),
    });
  });

  test.each([
    [{}, '0\n1\n2\n3\n4\n'],
    [{ start: 2 }, '2\n3\n4\n'],
    [{ start: 1, end: 3 }, '1\n2\n'],
    [{ start: -5, end: 2 }, '0\n1\n'],
    [{ start: 1, end: 1 }, '1\n'],
    [{ start: 3, end: 1 }, '3\n'],
    [{ start: 99, end: 100 }, '3\n4\n'],
    [{ start: 99 }, ''],
    [{ start: 2, end: 99 }, '2\n3\n4\n'],
  ])('the window %j', async (window, content) => {
    writeFileSync(server.path('lines'), '0\n1\n2\n3\n4\n');
    expect((await server.act('read', { path: server.path('lines'), ...window })).content).toBe(content);
  });

  test('relative paths start where the shell is, and the result names the whole path', async () => {
    mkdirSync(server.path('deep'));
    writeFileSync(server.path('deep/here'), 'x');
    await server.run('cd deep');
    const { content, extras } = await server.act('read', { path: 'here' });
    expect([content, extras.path]).toEqual(['x', server.path('deep/here')]);
    await server.run('cd ..');
  });

  test.each([
    ['.png', 'image/png'],
    ['.JPG', 'image/jpeg'],
    ['.bmp', 'image/bmp'],
    ['.gif', 'image/gif'],
    ['.pdf', 'application/pdf'],
    ['.mp4', 'video/mp4'],
    ['.webm', 'video/webm'],
    ['.ogg', 'video/ogg'],
  ])('%s comes as a data URL, by absolute and by relative path', async (extension, mediaType) => {
    writeFileSync(server.path(`media${extension}`), png);
    const url = `data:${mediaType};base64,${png.toString('base64')}`;
    expect((await server.act('read', { path: server.path(`media${extension}`) })).content).toBe(url);
    expect((await server.act('read', { path: `media${extension}` })).content).toBe(url);
  });

  test('what cannot be read is an error observation', async () => {
    writeFileSync(server.path('blob'), Buffer.from([1, 0, 2]));
    writeFileSync(server.path('latin'), Buffer.from([0x66, 0xfc, 0x72]));
    const cases = [
      ['blob', /^ERROR_BINARY_FILE$/],
      ['latin', /decoded/],
      ['missing', new RegExp(`^File not found: ${server.path('missing')}\\. .*${server.directory}`)],
      ['plain.txt/below', /^File not found/],
      ['deep', /directory/],
      ['\0', /NUL/],
      ['x'.repeat(5000), /./],
    ] as const;
    for (const [path, words] of cases) {
      const observation = await server.act('read', { path });
      expect(observation, path).toMatchObject({ observation: 'error', extras: { error_id: '' } });
      expect(observation.content).toMatch(words);
    }
  });
});

describe('write', () => {
  const cases = [
    [undefined, { content: 'a' }, 'a\n'],
    [undefined, { content: 'a\n' }, 'a\n\n'],
    [undefined, { content: '' }, '\n'],
    ['old\n', { content: 'new' }, 'new\n'],
    ['0\n1\n2\n', { content: 'x', start: 1 }, '0\nx\n'],
    ['0\n1\n2\n', { content: 'x\ny', start: 1, end: 2 }, '0\nx\ny\n2\n'],
    ['0\n1\n2\n', { content: 'x', start: 0, end: 0 }, 'x\n0\n1\n2\n'],
    ['0\n1\n2\n', { content: 'x', start: 9, end: 9 }, '0\n1\n2\nx\n'],
  ] as const;

  test.each(cases)('over %j, %j leaves %j', async (before, args, after) => {
    const path = server.path(`written-${cases.findIndex((entry) => entry[1] === args)}`);
    if (before !== undefined) writeFileSync(path, before);
    expect(await server.act('write', { path, ...args })).toEqual({
      observation: 'write',
      content: '',
      extras: { path },
      message: expect.any(String),
    });
    expect(readFileSync(path, 'utf8')).toBe(after);
  });

  test('makes parents; a new file may be written by its group, an old one keeps its mode', async () => {
    await server.act('write', { path: 'made/on/the/way', content: 'x' });
    expect(statSync(server.path('made/on/the/way')).mode & 0o777).toBe(0o664);
    writeFileSync(server.path('script'), '', { mode: 0o755 });
    await server.act('write', { path: 'script', content: '#!/bin/sh' });
    expect(statSync(server.path('script')).mode & 0o777).toBe(0o755);
  });

  test('what cannot be written is an error observation', async () => {
    writeFileSync(server.path('bytes'), Buffer.from([0, 1]));
    for (const [path, words] of [
      ['made', /directory/],
      ['bytes', /decoded/],
      ['bytes/below', /not found/],
    ] as const) {
      const observation = await server.act('write', { path, content: 'x' });
      expect(observation.observation, path).toBe('error');
      expect(observation.content).toMatch(words);
    }
  });
});

describe('/list_files', () => {
  const list = (payload?: object) =>
    server.request({ method: 'POST', url: '/list_files', ...(payload && { payload }) });

  test('directories first, with a slash, by name without regard to case; hidden ones too, dangling links not', async () => {
    const base = server.path('listing');
    mkdirSync(`${base}/Beta`, { recursive: true });
    mkdirSync(`${base}/alpha`);
    mkdirSync(`${base}/.git`);
    for (const name of ['b.txt', 'A.txt', '.hidden']) writeFileSync(`${base}/${name}`, '');
    symlinkSync('Beta', `${base}/link-to-dir`);
    symlinkSync('b.txt', `${base}/link-to-file`);
    symlinkSync('nothing', `${base}/dangling`);
    const expected = [
      '.git/',
      'alpha/',
      'Beta/',
      'link-to-dir/',
      '.hidden',
      'A.txt',
      'b.txt',
      'link-to-file',
    ];
    expect((await list({ path: base })).body).toEqual(expected);
    expect((await list({ path: 'listing' })).body).toEqual(expected);
  });

  test('relative paths start at the initial directory, wherever the shell is; no path means it', async () => {
    await server.run('cd /');
    const all = await list({});
    expect(all.body).toContain('listing/');
    expect((await list({ path: null })).body).toEqual(all.body);
    expect((await list()).body).toEqual(all.body);
    await server.run(`cd ${server.directory}`);
  });

  test('a missing path and a file are empty', async () => {
    expect((await list({ path: '/does/not/exist' })).body).toEqual([]);
    expect((await list({ path: 'plain.txt' })).body).toEqual([]);
  });
});
