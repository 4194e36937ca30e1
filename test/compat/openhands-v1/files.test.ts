import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { FileClient } from '@openhands/typescript-client/clients';
import { RemoteWorkspace } from '@openhands/typescript-client/workspace/remote-workspace';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer, type TestServer } from './server.js';

let server: TestServer;
let files: FileClient;
const inside = (path: string) => join(server.workspace, path);

beforeAll(async () => {
  server = await startServer();
  files = new FileClient(server);
});
afterAll(() => server[Symbol.asyncDispose]());

describe('upload and download', () => {
  test('carry every byte of a large binary file, and make directories on the way', async () => {
    const content = randomBytes(5_000_000);
    await files.uploadFile(new Blob([content]), inside('deep/er/file.bin'));
    expect(readFileSync(inside('deep/er/file.bin')).equals(content)).toBe(true);
    expect(Buffer.from(await files.downloadFile(inside('deep/er/file.bin'))).equals(content)).toBe(true);
  });

  test('carry text that looks like the form around it', async () => {
    const text =
      '\r\n--\r\n------WebKit\r\n--boundary--\r\nContent-Disposition: form-data; name="file"\r\n\r\n';
    await files.uploadTextFile(text, inside('tricky'));
    expect(await files.downloadTextFile(inside('tricky'))).toBe(text);
  });

  test('carry an empty file and odd names', async () => {
    const path = inside('späße & "Quotes"\n?.txt');
    await files.uploadTextFile('', path);
    expect(await files.downloadTextFile(path)).toBe('');
  });

  test('serve a RemoteWorkspace', async () => {
    const workspace = new RemoteWorkspace({ ...server, workingDir: server.workspace });
    expect(await workspace.uploadText('hällo', inside('text'))).toMatchObject({ success: true });
    expect(await workspace.downloadAsText(inside('text'))).toBe('hällo');
  });

  test('name the file of a download', async () => {
    writeFileSync(inside('na me.txt'), 'x');
    const response = await server.fetch(`/api/file/download?path=${encodeURIComponent(inside('na me.txt'))}`);
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
    expect(response.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''na%20me.txt");
    expect(response.headers.get('content-length')).toBe('1');
  });

  test('refuse what is relative, missing, no file, or outside', async () => {
    mkdirSync(inside('directory'), { recursive: true });
    const status = (path: string) => files.downloadFile(path).then(String, (error) => error.status);
    expect(await status('relative')).toBe(400);
    expect(await status(inside('missing'))).toBe(404);
    expect(await status(inside('directory'))).toBe(400);
    expect(await status('/etc/passwd')).toBe(403);
    expect(await status(inside('../../../etc/passwd'))).toBe(403);
    symlinkSync('/etc/passwd', inside('link'));
    expect(await status(inside('link'))).toBe(403);
    await expect(files.uploadTextFile('x', 'relative')).rejects.toMatchObject({ status: 400 });
    await expect(files.uploadTextFile('x', inside('directory'))).rejects.toMatchObject({ status: 400 });
  });

  test('tell why a long upload is refused, instead of hanging up', async () => {
    const blob = new Blob([randomBytes(20_000_000)]);
    await expect(files.uploadFile(blob, 'relative')).rejects.toMatchObject({ status: 400 });
    await expect(files.uploadFile(blob, '/etc/outside')).rejects.toMatchObject({ status: 403 });
  });

  test('leave nothing of a form without the file, or of one that breaks off', async () => {
    const form = new FormData();
    form.append('other', new Blob(['x']), 'other');
    const target = `/api/file/upload?path=${encodeURIComponent(inside('half/file'))}`;
    expect((await server.fetch(target, { method: 'POST', body: form })).status).toBe(422);
    const broken = '--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nhalf of it';
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    expect((await server.fetch(target, { method: 'POST', body: broken, headers })).status).toBe(400);
    await cutUpload(target, broken);
    expect(existsSync(inside('half/file'))).toBe(false);
    expect(existsSync(inside('half')) ? readdirSync(inside('half')) : []).toEqual([]);
  });
});

describe('directories', () => {
  test('are made, once more without harm, and not over a file', async () => {
    const make = (path: string) =>
      server.fetch(`/api/file/create_directory?path=${encodeURIComponent(path)}`, { method: 'POST' });
    for (let round = 0; round < 2; round++) {
      const response = await make(inside('made/here'));
      expect([response.status, await response.json()]).toEqual([200, { success: true }]);
    }
    writeFileSync(inside('plain'), '');
    expect((await make(inside('plain'))).status).toBe(400);
    expect((await make('relative')).status).toBe(400);
  });

  test('are listed by page, without files, links and, unless asked for, hidden ones', async () => {
    for (const name of ['a', 'b', 'c', '.hidden']) mkdirSync(inside(`tree/${name}`), { recursive: true });
    writeFileSync(inside('tree/file'), '');
    symlinkSync('a', inside('tree/link'));
    const page = await files.searchSubdirectories(inside('tree'), { limit: 2 });
    expect(page).toEqual({
      items: [
        { name: 'a', path: inside('tree/a') },
        { name: 'b', path: inside('tree/b') },
      ],
      next_page_id: 'c',
    });
    expect(await files.searchSubdirectories(inside('tree'), { pageId: 'c' })).toEqual({
      items: [{ name: 'c', path: inside('tree/c') }],
      next_page_id: null,
    });
    const all = await files.searchSubdirectories(inside('tree'), { includeHidden: true });
    expect(all.items.map(({ name }) => name)).toEqual(['.hidden', 'a', 'b', 'c']);
    await expect(files.searchSubdirectories(inside('none'))).rejects.toMatchObject({ status: 404 });
  });

  test('begin at a home that can be looked at', async () => {
    const home = await files.getHome();
    expect(home.favorites).toEqual([{ label: 'Workspace', path: server.workspace }]);
    await files.searchSubdirectories(home.home);
    for (const { path } of home.locations ?? []) await files.searchSubdirectories(path);
  });
});

describe('an archive', () => {
  const fetchArchive = (path: string, query = '') =>
    server.fetch(`/api/file/archive?path=${encodeURIComponent(path)}&format=tar.gz${query}`);

  async function namesIn(query = ''): Promise<string[]> {
    const response = await fetchArchive(inside('project'), query);
    expect(response.status).toBe(200);
    const input = Buffer.from(await response.arrayBuffer());
    return execFileSync('tar', ['-tzf', '-'], { input, encoding: 'utf8' }).trim().split('\n').sort();
  }

  beforeAll(() => {
    const members = [
      'src/a.txt',
      'node_modules/x/y',
      'deep/node_modules/z',
      'a.pyc',
      '.git/config',
      '.git/HEAD',
    ];
    for (const name of members) {
      mkdirSync(dirname(inside(`project/${name}`)), { recursive: true });
      writeFileSync(inside(`project/${name}`), name);
    }
    symlinkSync('/etc/passwd', inside('project/link'));
  });

  test('has the project without what is heavy, links as links, and a manifest', async () => {
    const manifest = 'project/archive_manifest.json';
    expect(await namesIn()).toEqual([
      manifest,
      'project/deep/',
      'project/link',
      'project/src/',
      'project/src/a.txt',
    ]);
    expect(await namesIn('&exclude=src/&exclude=link/')).toEqual([manifest, 'project/deep/', 'project/link']);
  });

  test('never has the credentials of git', async () => {
    const names = await namesIn('&use_default_excludes=false');
    expect(names).toContain('project/.git/HEAD');
    expect(names).toContain('project/node_modules/x/y');
    expect(names).not.toContain('project/.git/config');
  });

  test('carries the content', async () => {
    const response = await fetchArchive(inside('project'));
    const input = Buffer.from(await response.arrayBuffer());
    expect(String(execFileSync('tar', ['-xzOf', '-', 'project/src/a.txt'], { input }))).toBe('src/a.txt');
  });

  test('is refused where there is nothing, and as a patch of what is no repository', async () => {
    expect((await fetchArchive(inside('nothing'))).status).toBe(404);
    expect((await fetchArchive('relative')).status).toBe(400);
    expect((await fetchArchive(inside('project'), '&exclude=%7B'.repeat(101))).status).toBe(422);
    expect(
      (await server.fetch(`/api/file/archive?path=${encodeURIComponent(inside('project'))}`)).status,
    ).toBe(400);
  });
});

test('a client that hangs up in the middle leaves no file open', async () => {
  mkdirSync(inside('heavy'));
  writeFileSync(inside('heavy/large'), randomBytes(50_000_000));
  for (const [route, name] of [
    ['download?', 'heavy/large'],
    ['archive?format=tar.gz&', 'heavy'],
  ] as const) {
    const stop = new AbortController();
    const path = encodeURIComponent(inside(name));
    const response = await server.fetch(`/api/file/${route}path=${path}`, { signal: stop.signal });
    await response.body?.getReader().read();
    expect(openFiles()).toContain(inside('heavy/large'));
    stop.abort();
    await expect.poll(openFiles, { timeout: 20_000 }).not.toContain(inside('heavy/large'));
  }
});

/** The files that this process, which the server is part of, has open. */
function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      return [readlinkSync(`/proc/self/fd/${name}`)];
    } catch {
      return [];
    }
  });
}

/** Sends the head of an upload and a part of its body, then hangs up. */
function cutUpload(target: string, body: string): Promise<void> {
  const { hostname, port, host } = new URL(server.host);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        `POST ${target} HTTP/1.1\r\nHost: ${host}\r\nX-Session-API-Key: ${server.apiKey}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 100000\r\n\r\n${body}`,
        () => socket.destroy(),
      );
    });
    socket.once('close', () => resolve());
  });
}
