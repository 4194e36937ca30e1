/** Ports of cells as web addresses: for whoever has a link, on the preview's own terms, and for nobody else. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { ServiceClient } from '../../src/client/index.js';
import { PreviewLinks } from '../../src/service/previews/preview-links.js';
import { startPreviews } from '../../src/service/previews/preview-server.js';
import { type Service, startService } from '../../src/service/serve-service.js';
import type { ServiceCells } from '../../src/service/service-cells.js';

const directory = mkdtempSync(join(tmpdir(), 'workcell-previews-'));
const config = join(directory, 'service.toml');
const operatorKey = 'an-operator-key-of-the-test';

/** Reports the requests it gets, takes uploads, and speaks to sockets; in the cell. */
const program = `
import base64, hashlib, json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *_): pass
    def do_GET(self):
        if self.headers.get('upgrade') == 'websocket':
            accept = hashlib.sha1((self.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').encode()).digest()
            self.wfile.write(b'HTTP/1.1 101 Switching\\r\\nupgrade: websocket\\r\\nconnection: upgrade\\r\\nset-cookie: c=d\\r\\nsec-websocket-accept: ' + base64.b64encode(accept) + b'\\r\\n\\r\\n\\x81\\x02hi')
            self.close_connection = True
            self.rfile.read(1)
            return
        if self.path.startswith('/odd'):
            self.wfile.write(b'HTTP/1.1 099 Odd\\r\\ncontent-length: 0\\r\\n\\r\\n')
            return
        if self.path.startswith('/switch'):
            self.wfile.write(b'HTTP/1.1 101 Switching\\r\\nupgrade: websocket\\r\\nconnection: upgrade\\r\\n\\r\\n')
            self.rfile.read(1)
            return
        if self.path.startswith('/events'):
            self.send_response(200); self.send_header('content-type', 'text/event-stream'); self.end_headers()
            self.wfile.write(b'data: one\\n\\n'); self.wfile.flush()
            self.rfile.read(1)
            return
        self.answer({'path': self.path, 'headers': {k.lower(): v for k, v in self.headers.items()}})
    def do_POST(self):
        self.answer({'bytes': len(self.rfile.read(int(self.headers['content-length'])))})
    def answer(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header('content-length', str(len(body)))
        self.send_header('set-cookie', 'a=b; Domain=example.com; Path=/')
        self.send_header('clear-site-data', '"cookies"'); self.send_header('nel', '{}')
        self.send_header('content-type', 'text/html')
        self.end_headers()
        self.wfile.write(body)
ThreadingHTTPServer(('127.0.0.1', 8000), Handler).serve_forever()
`;

let service: Service;
let operator: ServiceClient;
let cell: string;
let link: string;

beforeAll(async () => {
  writeFileSync(
    config,
    `backend = "sandbox"\n[events]\nstore = "memory"\n[service]\nstore = "sqlite:${join(directory, 'service.db')}"\npreview_listen = "127.0.0.1:0"\n`,
    { mode: 0o600 },
  );
  service = await startService({ listen: { host: '127.0.0.1', port: 0 }, operatorKey, config });
  const url = `http://127.0.0.1:${(service.address as { port: number }).port}`;
  operator = new ServiceClient({ url, apiKey: operatorKey });
  cell = (await operator.create()).id;
  await fetch(`${operator.address(cell)}/v1/files?path=server.py`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${operatorKey}` },
    body: program,
  });
  const started = await fetch(`${operator.address(cell)}/v1/actions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      action: 'run',
      command:
        'nohup python3 server.py >/dev/null 2>&1 & until (exec 3<>/dev/tcp/127.0.0.1/8000) 2>/dev/null; do sleep 0.05; done',
    }),
  });
  expect(await started.json()).toMatchObject({ exitCode: 0 });
  link = (await operator.preview(cell, { port: 8000 })).url;
}, 60_000);

afterAll(async () => {
  await operator?.remove(cell);
  await service?.close();
  rmSync(directory, { recursive: true, force: true });
});

test('a link leads to the port, with paths, uploads, events and sockets', async () => {
  const page = await fetch(`${link}some/page?q=1`, { headers: { cookie: 'own=1', 'x-mine': 'yes' } });
  expect(page.status).toBe(200);
  expect(await page.json()).toMatchObject({
    path: '/some/page?q=1',
    headers: { host: 'localhost:8000', 'x-mine': 'yes' },
  });
  const bytes = 3 * 1024 * 1024;
  const upload = await fetch(link, { method: 'POST', body: Buffer.alloc(bytes) });
  expect(await upload.json()).toEqual({ bytes });
  const events = await fetch(`${link}events`);
  const { value } = (await events.body?.getReader().read()) ?? {};
  expect(Buffer.from(value ?? []).toString()).toBe('data: one\n\n');
  const socket = new WebSocket(`${link.replace('http', 'ws')}socket`);
  const agreed = new Promise<IncomingMessage>((resolve) => socket.once('upgrade', resolve));
  expect(await new Promise((resolve) => socket.once('message', (data) => resolve(String(data))))).toBe('hi');
  expect((await agreed).headers['set-cookie']).toBeUndefined();
  socket.terminate();
});

test('an answer that HTTP does not allow ends with it, and nothing else', async () => {
  expect((await fetch(`${link}odd`)).status).toBe(502);
  expect((await fetch(`${link}switch`)).status).toBe(502);
  expect((await fetch(link)).status).toBe(200);
});

test('a cell has a bounded number of connections, and they are free again when clients leave', async () => {
  const leave = new AbortController();
  const open = Array.from({ length: 64 }, () => fetch(`${link}events`, { signal: leave.signal }));
  await Promise.all(open);
  expect((await fetch(link)).status).toBe(429);
  leave.abort();
  await expect.poll(async () => (await fetch(link)).status).toBe(200);
});

test('many requests on one connection leave nothing behind on it', async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error) => void warnings.push(name);
  process.on('warning', note);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let round = 0; round < 12; round++) {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request(link, { agent }, resolve).once('error', reject).end();
    });
    await text(answer);
  }
  agent.destroy();
  process.off('warning', note);
  expect(warnings).not.toContain('MaxListenersExceededWarning');
});

test('a page of a shared host has no origin, no cookies and no workers beyond its own', async () => {
  const { headers } = await fetch(link);
  expect(headers.get('content-security-policy')).toMatch(/^sandbox /);
  expect(headers.get('content-security-policy')).not.toContain('allow-same-origin');
  expect(headers.get('set-cookie')).toBeNull();
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  for (const name of ['clear-site-data', 'nel']) expect(headers.get(name)).toBeNull();
});

test('a link that is changed, over, or for a port where nobody listens leads nowhere', async () => {
  const { origin, pathname } = new URL(link);
  const [name, port, at, key, signature] = pathname.slice(1, -1).split('-');
  const { id: other } = await operator.createKey();
  const forged = [
    [name, '8001', at, key, signature],
    [name, port, String(Number(at) + 1), key, signature],
    ['0'.repeat(20), port, at, key, signature],
    [name, port, at, other, signature],
    [name, port, at, 'nobody', signature],
    [name, port, at, key, signature?.replaceAll(/[0-9a-f]/g, '0')],
  ];
  for (const parts of forged) expect((await fetch(`${origin}/${parts.join('-')}/`)).status).toBe(404);
  for (const path of ['/', `/${cell}/8000/`, '/%', '//'])
    expect((await fetch(`${origin}${path}`)).status).toBe(404);
  const asked = { cell, port: 8000, ttlMs: 9999 };
  const foreign = new PreviewLinks('of another service', { proofOf: () => 'proof' }, origin);
  expect((await fetch(foreign.create({ id: 'operator' }, asked).url)).status).toBe(404);
  expect((await fetch((await operator.preview(cell, { port: 9 })).url)).status).toBeGreaterThanOrEqual(404);
});

test('links are made by those who may change the cell, and end with their key', async () => {
  const { key } = await operator.createKey({ tenant: 'default', role: 'reader' });
  const { key: other } = await operator.createKey({ tenant: 'other' });
  const expiresAt = new Date(Date.now() + 60_000).toISOString();
  const { key: brief } = await operator.createKey({ tenant: 'default', expiresAt });
  const url = operator.address('').replace('/v1/cells/', '');
  const as = (apiKey: string) => new ServiceClient({ url, apiKey }).preview(cell, { port: 8000 });
  await expect(as(key)).rejects.toMatchObject({ code: 'denied' });
  await expect(as(other)).rejects.toMatchObject({ code: 'cell-not-found' });
  expect((await as(brief)).expiresAt).toBe(expiresAt);
});

test('a link ends with the key that made it, and so do its connections', async () => {
  const { id, key } = await operator.createKey({ tenant: 'default' });
  const url = operator.address('').replace('/v1/cells/', '');
  const made = await new ServiceClient({ url, apiKey: key }).preview(cell, { port: 8000 });
  const events = (await fetch(`${made.url}events`)).body?.getReader();
  expect((await events?.read())?.done).toBe(false);
  const socket = new WebSocket(`${made.url.replace('http', 'ws')}socket`);
  await once(socket, 'message');
  const closed = once(socket, 'close');
  await operator.removeKey(id);
  await expect(events?.read()).rejects.toThrow();
  await closed;
  expect((await fetch(made.url)).status).toBe(404);
  expect((await fetch(link)).status).toBe(200);
});

test("an operator's link ends with the operator's key", () => {
  const create = (proof: string) => new PreviewLinks('secret', { proofOf: () => proof }, 'http://host');
  const { url } = create('before').create({ id: 'operator' }, { cell: 'abc', port: 80, ttlMs: 9999 });
  const token = new URL(url).pathname.slice(1, -1);
  expect(create('before').read(token)).toMatchObject({ cell: 'abc', key: 'operator' });
  expect(create('after').read(token)).toBeUndefined();
});

test('with a host of its own a preview takes its link once, and requests of its own pages', async () => {
  const runtime = await startPreviewsOnHost();
  try {
    const { links, ask } = runtime;
    const address = new URL(links.create({ id: 'key' }, { cell: 'abc', port: 80, ttlMs: 60_000 }).url);
    expect(address.host).toBe('80-abc.preview.example');
    const first = await ask(`${address.pathname}x${address.search}&q=1`, { host: address.host });
    expect(first.statusCode).toBe(302);
    expect(first.headers.location).toBe('/x?q=1');
    const [cookie = ''] = first.headers['set-cookie'] ?? [];
    expect(cookie).toMatch(/^workcell-preview=.*HttpOnly; SameSite=Lax$/);
    const own = { host: address.host, cookie: `${cookie.split(';')[0]}; theirs=1` };
    // Let through: the cell that the test has none of says so.
    expect((await ask('/', own)).statusCode).toBe(503);
    expect((await ask('/', { ...own, origin: `http://${address.host}` })).statusCode).toBe(503);
    expect((await ask('/', { ...own, origin: 'http://81-abc.preview.example' })).statusCode).toBe(404);
    expect((await ask('/', { ...own, host: '81-abc.preview.example' })).statusCode).toBe(404);
    expect((await ask('/', { host: address.host })).statusCode).toBe(404);
  } finally {
    await runtime.close();
  }
});

/** For cells that we cannot reach, by any name. */
async function startPreviewsOnHost() {
  const { WorkcellError } = await import('../../src/protocol/index.js');
  const cells = {
    byId: (id: string) => ({ id, tenant: 'a' }),
    use: async () => {
      throw new WorkcellError('runtime-disconnected', 'gone');
    },
  } as unknown as ServiceCells;
  const { links, address, close } = await startPreviews({
    listen: { host: '127.0.0.1', port: 0 },
    url: 'http://*.preview.example',
    secret: 'a secret',
    cells,
    keys: { proofOf: () => 'proof', track: () => () => {} },
  });
  const { port } = address as { port: number };
  const ask = (path: string, headers: Record<string, string>) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      request({ host: '127.0.0.1', port, path, headers }, (answer) => resolve(answer.resume()))
        .once('error', reject)
        .end();
    });
  return { links, ask, close };
}
