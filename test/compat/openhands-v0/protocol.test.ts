import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer, type TestServer } from './server.js';

let server: TestServer;
beforeAll(() => {
  server = startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const execute = (payload: string | object, headers = {}) =>
  server.request({
    method: 'POST',
    url: '/execute_action',
    headers: { 'content-type': 'application/json', ...headers },
    payload,
  });

describe('status', () => {
  test('/alive', async () => {
    expect(await server.request({ url: '/alive' })).toMatchObject({ status: 200, body: { status: 'ok' } });
  });

  test('/server_info has floats and all resources; idle time starts with an action', async () => {
    await server.run('true');
    const { body } = await server.request({ url: '/server_info' });
    expect(body).toEqual({
      uptime: expect.any(Number),
      idle_time: expect.any(Number),
      resources: {
        cpu_percent: expect.any(Number),
        memory: { rss: expect.any(Number), vms: expect.any(Number), percent: expect.any(Number) },
        disk: {
          total: expect.any(Number),
          used: expect.any(Number),
          free: expect.any(Number),
          percent: expect.any(Number),
        },
        io: { read_bytes: expect.any(Number), write_bytes: expect.any(Number) },
      },
    });
    const { uptime, idle_time } = body as { uptime: number; idle_time: number };
    expect(idle_time).toBeLessThan(uptime);
  });

  test('what is disabled answers so', async () => {
    expect((await server.request({ url: '/vscode/connection_token' })).body).toEqual({ token: null });
    for (const url of ['/mcp/sse', '/sse', '/messages/', '/nowhere'])
      expect(await server.request({ url })).toMatchObject({ status: 404, body: { detail: 'Not Found' } });
  });

  test('/update_mcp_server checks the list, and a server that fails is told in a good answer', async () => {
    const update = (payload: string) =>
      server.request({
        method: 'POST',
        url: '/update_mcp_server',
        headers: { 'content-type': 'application/json' },
        payload,
      });
    expect(await update('[]')).toMatchObject({
      status: 200,
      body: { detail: expect.any(String), router_error_log: '' },
    });
    expect(
      await update('[{"name":"a","command":"no-such-program","args":"-y \'x y\'","env":"K=v,L=w"}]'),
    ).toMatchObject({
      status: 200,
      body: { router_error_log: expect.stringMatching(/no-such-program/) },
    });
    expect((await update('[]')).status).toBe(200);
    expect((await update('{}')).status).toBe(400);
    expect((await update('[{"name":"a b","command":"npx"}]')).status).toBe(400);
    expect((await update('[{"name":"a","command":"npx -y"}]')).status).toBe(400);
  });
});

describe('the key', () => {
  test('is demanded everywhere but at /alive and /server_info', async () => {
    await using locked = startServer({ token: 'secret' });
    const refusal = { status: 403, body: { detail: 'Invalid API Key' } };
    expect((await locked.request({ url: '/alive' })).status).toBe(200);
    expect((await locked.request({ url: '/server_info' })).status).toBe(200);
    for (const url of ['/execute_action', '/list_files', '/upload_file', '/update_mcp_server'])
      expect(await locked.request({ method: 'POST', url, payload: {} })).toMatchObject(refusal);
    for (const url of [
      '/download_files?path=/',
      '/vscode/connection_token',
      '/view?path=/x.png',
      '/mcp/sse',
      '/x',
    ])
      expect(await locked.request({ url })).toMatchObject(refusal);
    const headers = { 'x-session-api-key': 'Secret' };
    expect(await locked.request({ url: '/vscode/connection_token', headers })).toMatchObject(refusal);
    const right = { 'x-session-api-key': 'secret' };
    expect((await locked.request({ url: '/vscode/connection_token', headers: right })).status).toBe(200);
  });

  test('other hosts and web pages are refused, with or without it', async () => {
    expect(await server.request({ url: '/alive', headers: { host: 'evil.example' } })).toMatchObject({
      status: 403,
    });
    const headers = { origin: 'http://localhost:1' };
    expect(await server.request({ url: '/alive', headers })).toMatchObject({ status: 403 });
    await using named = startServer({ hosts: ['cell-7'] });
    expect((await named.request({ url: '/alive', headers: { host: 'cell-7:8000' } })).status).toBe(200);
  });
});

describe('requests', () => {
  test.each([
    ['no JSON', '{'],
    ['no object', '[]'],
    ['no action', '{}'],
    ['an action that is no object', '{"action":"run"}'],
    ['a prototype', '{"__proto__":{},"action":{"action":"run","args":{"command":"ls"}}}'],
  ])('%s is 422', async (_name, payload) => {
    expect(await execute(payload)).toMatchObject({
      status: 422,
      body: { detail: 'Invalid request parameters', errors: expect.any(String) },
    });
  });

  test.each([
    ['an unknown type', { action: 'fly', args: {} }, /"fly"/],
    ['a type of the client', { action: 'call_tool_mcp', args: { name: 'x' } }, /"call_tool_mcp"/],
    ['a prototype as type', { action: 'constructor', args: {} }, /"constructor"/],
    ['no type', { args: {} }, /action/],
    ['an unknown argument', { action: 'run', args: { command: 'ls', colour: 'red' } }, /colour/],
    ['a missing argument', { action: 'run', args: {} }, /command/],
    ['a wrong argument', { action: 'read', args: { path: 7 } }, /path/],
  ])('%s is 400 and names it', async (_name, action, words) => {
    const { status, body } = await execute({ action });
    expect(status).toBe(400);
    expect((body as { detail: string }).detail).toMatch(words);
  });

  test('too deep and too long are refused', async () => {
    expect((await execute(`{"action":${'['.repeat(200)}${']'.repeat(200)}}`)).status).toBe(413);
    expect((await execute(`"${'x'.repeat(33 * 1024 * 1024)}"`)).status).toBe(413);
  });

  test('everything that a client sends along is understood', async () => {
    const { status, body } = await execute({
      action: {
        id: 7,
        timestamp: '2025-11-30T10:00:00.000001',
        source: 'agent',
        message: 'Running command: echo hi',
        action: 'run',
        args: {
          command: 'echo hi',
          is_input: false,
          thought: 'why not',
          blocking: false,
          is_static: false,
          cwd: null,
          hidden: false,
          confirmation_state: 'confirmed',
          security_risk: -1,
          is_confirmed: 'confirmed',
          keep_prompt: true,
        },
        timeout: 120.0,
        tool_call_metadata: { function_name: 'execute_bash' },
      },
    });
    expect([status, (body as { content: string }).content]).toEqual([200, 'hi']);
  });

  test('a command with a NUL character is an error observation', async () => {
    expect(await server.run('echo \0')).toMatchObject({ observation: 'error' });
  });

  test('one action runs at a time, in the order of their arrival; other endpoints do not wait', async () => {
    const order: string[] = [];
    const first = server.run('sleep 0.5; echo one >> order').then(() => order.push('one'));
    const second = server.run('echo two >> order').then(() => order.push('two'));
    await server.request({ method: 'POST', url: '/list_files', payload: {} });
    expect(order).toEqual([]);
    await Promise.all([first, second]);
    expect(order).toEqual(['one', 'two']);
    expect(readFileSync(server.path('order'), 'utf8')).toBe('one\ntwo\n');
  });
});

describe('transfers', () => {
  const upload = (filename: string, content: string | Buffer, query = '') => {
    const boundary = 'b0undary--x';
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="note"\r\n\r\nfirst\r\n--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${filename}"\r\nContent-Type: application/octet-stream\r\n\r\n`;
    return server.request({
      method: 'POST',
      url: `/upload_file?${query}`,
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
      payload: Buffer.concat([
        Buffer.from(head),
        Buffer.from(content),
        Buffer.from(`\r\n--${boundary}--\r\n`),
      ]),
    });
  };
  const to = (name: string, recursive = false) =>
    `destination=${encodeURIComponent(server.path(name))}&recursive=${recursive}`;

  test('a file goes into the destination, which is made', async () => {
    const content = Buffer.concat([
      Buffer.from('\r\n--b0undary\r\n\0'),
      Buffer.alloc(300_000, 7),
      Buffer.from('\r\n'),
    ]);
    const { status, body } = await upload('data.bin', content, to('in/here'));
    expect([status, body]).toEqual([
      200,
      { filename: 'data.bin', destination: server.path('in/here'), recursive: false },
    ]);
    expect(readFileSync(server.path('in/here/data.bin')).equals(content)).toBe(true);
    await upload('empty', '', to('in/here'));
    expect(readFileSync(server.path('in/here/empty'), 'utf8')).toBe('');
  });

  test('a zip is unpacked when recursive, and kept as it is when not', async () => {
    mkdirSync(server.path('tree/sub'), { recursive: true });
    writeFileSync(server.path('tree/sub/file'), 'content');
    execFileSync('zip', ['-qr', 'tree.zip', 'tree'], { cwd: server.directory });
    const zip = readFileSync(server.path('tree.zip'));
    expect((await upload('tree.zip', zip, to('unpacked', true))).status).toBe(200);
    expect((await server.run('find unpacked -type f')).content).toBe('unpacked/tree/sub/file');
    await upload('tree.zip', zip, to('kept'));
    expect(readFileSync(server.path('kept/tree.zip')).equals(zip)).toBe(true);
  });

  test('what cannot be uploaded is 4xx with the reason', async () => {
    const outcomes = await Promise.all([
      upload('x', '', 'destination=relative'),
      upload('x.tar', '', to('unpacked', true)),
      upload('broken.zip', 'no zip', to('unpacked', true)),
      upload('..', '', to('in')),
      upload('x', '', `${to('in')}&recursive=perhaps`),
      server.request({ method: 'POST', url: '/upload_file', payload: {} }),
      server.request({
        method: 'POST',
        url: '/upload_file',
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
        payload: '--b--\r\n',
      }),
      server.request({
        method: 'POST',
        url: `/upload_file?${to('in')}`,
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
        payload: '--b\r\nContent-Disposition: form-data; name="file"; filename="cut"\r\n\r\nhalf',
      }),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual([400, 400, 422, 400, 422, 422, 422, 400]);
    for (const { body } of outcomes) expect(body).toMatchObject({ detail: expect.any(String) });
  });

  test('a name that climbs is reduced to its last part', async () => {
    expect((await upload('../../climbed', 'x', to('in'))).body).toMatchObject({ filename: 'climbed' });
    expect(readFileSync(server.path('in/climbed'), 'utf8')).toBe('x');
  });

  test('a download is a stored zip of files, with names relative to the path', async () => {
    const base = server.path('out');
    mkdirSync(`${base}/sub/empty`, { recursive: true });
    writeFileSync(`${base}/a`, 'A');
    writeFileSync(`${base}/sub/b`, 'B'.repeat(1000));
    symlinkSync('a', `${base}/link`);
    symlinkSync('sub', `${base}/dirlink`);
    const { status, bytes } = await server.request({ url: `/download_files?path=${base}` });
    expect(status).toBe(200);
    writeFileSync(server.path('got.zip'), bytes);
    const listing = execFileSync('unzip', ['-v', server.path('got.zip')], { encoding: 'utf8' });
    const entries = [...listing.matchAll(/^ *\d+ +(\S+) +.* (\S+)$/gm)].map((match) => [match[2], match[1]]);
    expect(
      entries
        .filter(([, method]) => method === 'Stored')
        .map(([name]) => name)
        .sort(),
    ).toEqual(['a', 'link', 'sub/b']);
    expect(listing).not.toMatch(/Defl/);
    execFileSync('unzip', ['-q', server.path('got.zip'), '-d', server.path('got')]);
    expect(readFileSync(server.path('got/link'), 'utf8')).toBe('A');
  });

  test('a single file is in its archive; other paths are 4xx', async () => {
    const { bytes } = await server.request({ url: `/download_files?path=${server.path('out/a')}` });
    writeFileSync(server.path('one.zip'), bytes);
    expect(execFileSync('unzip', ['-p', server.path('one.zip'), 'a'], { encoding: 'utf8' })).toBe('A');
    expect((await server.request({ url: '/download_files?path=relative' })).status).toBe(400);
    expect((await server.request({ url: '/download_files?path=/does/not/exist' })).status).toBe(404);
    expect((await server.request({ url: '/download_files' })).status).toBe(422);
  });

  test('/view shows pictures and PDF files in a page that loads nothing else', async () => {
    const look = (path: string) => server.request({ url: `/view?path=${encodeURIComponent(path)}` });
    writeFileSync(server.path('<b>.png'), 'picture');
    writeFileSync(server.path('paper.pdf'), '%PDF-');
    const { status, text } = await look(server.path('<b>.png'));
    expect(status).toBe(200);
    expect(text).toMatch(/<title>File Viewer - &#60;b&#62;\.png<\/title>/);
    expect(text).toMatch(`data:image/png;base64,${Buffer.from('picture').toString('base64')}`);
    expect((await look(server.path('paper.pdf'))).text).toMatch(/data:application\/pdf/);
    const statuses = ['x.png', server.directory, '/does/not/exist.png', server.path('order')].map(
      async (path) => (await look(path)).status,
    );
    expect(await Promise.all(statuses)).toEqual([400, 400, 404, 415]);
    expect(text).not.toMatch(/https?:/);
  });
});
