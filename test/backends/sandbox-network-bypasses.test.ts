/** Ways around the rules of a real cell, each next to a neighbour that is allowed; and all that runs in a cell goes by its rules. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createRuntime, type NetworkOption, type Runtime } from '../../src/index.js';

const workspace = mkdtempSync(join(tmpdir(), 'sandbox-bypasses-'));
const server = createHttp((request, response) => response.end(`hello from ${request.headers.host}\n`));
let runtime: Runtime;

/** A server of MCP with one tool, which fetches. */
const fetcher = `
const { createInterface } = require('node:readline');
const answers = {
  initialize: () => ({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'fetcher', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'fetch', inputSchema: { type: 'object', properties: { url: { type: 'string' } } } }] }),
  'tools/call': async ({ arguments: { url } }) => ({ content: [{ type: 'text', text: await (await fetch(url)).text() }] }),
};
createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: await answers[method](params) }));
});`;

/** Passes on what the host behind \`?\` answers. */
const passer = `
const { createServer } = require('node:http');
createServer(async (request, response) => {
  response.end(await (await fetch('http://' + request.url.split('?')[1] + '/')).text());
}).listen(8080, '127.0.0.1');`;

/** Hands every connection to the proxy of the cell, as a process that others could use would. */
const relay = `
const { connect, createServer } = require('node:net');
createServer((one) => {
  const other = connect(3128, '127.0.0.1');
  one.pipe(other).pipe(one);
}).listen(9999, '127.0.0.1', () => console.log('ready'));`;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const [name, text] of Object.entries({ fetcher, passer, relay }))
    writeFileSync(join(workspace, `${name}.js`), text);
  const names = ['web.test', 'evil.test', 'ports.test'];
  runtime = await createRuntime({
    backend: 'sandbox',
    config: false,
    workspace,
    mcp: { fetcher: { command: 'node', args: ['fetcher.js'] } },
    network: {
      allow: ['web.test', 'ports.test:53,1080,3128'],
      hosts: Object.fromEntries(names.map((name) => [name, place])),
    },
  });
});

afterAll(async () => {
  await runtime?.close();
  server.closeAllConnections();
  server.close();
  rmSync(workspace, { recursive: true, force: true });
});

const output = async (command: string) => (await runtime.run(command)).output;
const refused = 'refused-by-network-rules';

describe('what runs in the cell by other ways than a command goes by the rules', () => {
  test('code cells', async () => {
    const get = (host: string) => `import urllib.request, urllib.error
try: print(urllib.request.urlopen("http://${host}/").read().decode())
except urllib.error.HTTPError as error: print(error.read().decode())`;
    expect((await runtime.runCode(get('web.test'))).text).toContain('hello from web.test');
    expect((await runtime.runCode(get('evil.test'))).text).toContain(refused);
  });

  test('servers of MCP', async () => {
    const get = async (host: string) =>
      JSON.stringify(await runtime.mcp.call('fetch', { url: `http://${host}/` }));
    expect(await get('web.test')).toContain('hello from web.test');
    expect(await get('evil.test')).toContain(refused);
  });

  test('servers behind forwarded ports', async () => {
    await runtime.processes.start(['node', 'passer.js']);
    await using forwarded = await runtime.ports.forward(8080);
    const get = async (host: string) => (await fetch(`${forwarded.url}/?${host}`)).text();
    await expect.poll(() => get('web.test').catch(() => ''), { timeout: 20_000 }).toContain('hello from web');
    expect(await get('evil.test')).toContain(refused);
  });
});

test('a relay in the cell passes on what its user may have, and nothing else', async () => {
  await runtime.run('node relay.js > ready & until grep -q ready ready 2>/dev/null; do :; done', {
    session: 'relay',
  });
  for (const how of ['', '--proxytunnel']) {
    const by = `curl -sS ${how} --proxy http://127.0.0.1:9999`;
    expect(await output(`${by} http://web.test/`)).toContain('hello from web.test');
    expect(await output(`${by} http://evil.test/ 2>&1`)).toMatch(/refused-by-network-rules|403/);
  }
});

test('rules on the ports of the proxies hold for direct connections, and the port of names leads to the resolver', async () => {
  for (const port of [3128, 1080]) {
    const get = (host: string) => `curl -sS -m 20 http://${host}:${port}/ 2>&1`;
    expect(await output(get('ports.test'))).toContain(`hello from ports.test:${port}`);
    expect(await output(get('web.test'))).not.toContain('hello');
  }
  expect(await output('curl -sS -m 20 --proxy http://localhost:3128 http://web.test/')).toContain('hello');
  // By the proxy a rule on that port counts.
  expect(await output('curl -sS -m 20 http://ports.test:53/ 2>&1')).not.toContain('hello');
  expect(await output('curl -sS -m 20 --proxy http://127.0.0.1:3128 http://ports.test:53/')).toContain(
    'hello from ports.test:53',
  );
});

test('sockets of this machine that have no port are out of reach, and those of the cell are not', async () => {
  const name = `workcell-bypass-${process.pid}`;
  const paths = [`\0${name}`, join(tmpdir(), `${name}-docker.sock`), `/run/${name}-docker.sock`];
  for (const path of paths) {
    const outside = createServer((socket) => socket.end('outside'));
    onTestFinished(() => void outside.close());
    outside.listen(path);
    await once(outside, 'listening');
  }
  const reach = (path: string) => `python3 -c '
import socket
s = socket.socket(socket.AF_UNIX)
try:
    s.connect(${JSON.stringify(path).replace('\\u0000', '\\0')})
    print("reached", s.recv(99))
except OSError as error: print("not reached", error)'`;
  for (const path of [...paths, '/var/run/docker.sock', '/run/docker.sock'])
    expect(await output(reach(path)), path).toContain('not reached');
  const within = `python3 -c '
import socket
a = socket.socket(socket.AF_UNIX); a.bind("\\0${name}-own"); a.listen()
b = socket.socket(socket.AF_UNIX); b.connect("\\0${name}-own"); print("reached")'`;
  expect(await output(within)).toBe('reached\n');
});

test('what the settings say that all is within holds for code, and for all that it changes', async () => {
  const config = join(workspace, 'workcell.toml');
  writeFileSync(config, '[network]\nwithin = ["web.test", "127.0.0.1:*"]\n');
  const cell = { backend: 'sandbox', config } as const;
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const network = { allow: ['**'], hosts: { 'web.test': place, 'evil.test': place } };
  await using ruled = await createRuntime({ ...cell, network });
  const get = async (host: string) => (await ruled.run(`curl -sS http://${host}/`)).output;
  expect(await get('web.test')).toContain('hello from web.test');
  expect(await get('evil.test')).toContain(refused);
  await ruled.network.set(network);
  await ruled.network.allow('evil.test');
  expect(await get('evil.test')).toContain(refused);
  expect(ruled.network.rules()?.within).toEqual(['web.test', '127.0.0.1:*']);
  const invalid = { code: 'invalid-config', details: { key: 'network.within' } };
  await expect(ruled.network.set({ ...network, within: ['**'] })).rejects.toMatchObject(invalid);
  const others: ('host' | NetworkOption)[] = [{ ...network, within: ['**'] }, 'open', 'host'];
  for (const other of others)
    await expect(createRuntime({ ...cell, network: other })).rejects.toMatchObject(invalid);
  await expect(createRuntime({ backend: 'cli', config })).rejects.toMatchObject(invalid);
  await using none = await createRuntime(cell);
  expect(none.network.rules()).toBeUndefined();
});

describe('a machine that cannot enforce rules', () => {
  const owner = fileURLToPath(new URL('./network/lame-machine.ts', import.meta.url));

  /** What starts where /usr/bin/perl is another file, in a mount namespace of its own. */
  async function startsWith(perl: string): Promise<Record<string, string>> {
    const program = `mount --bind "$1" /usr/bin/perl && exec "$2" --import "$3" "$4"`;
    const child = spawn(
      'unshare',
      ['--mount', 'sh', '-c', program, 'sh', perl, process.execPath, import.meta.resolve('tsx'), owner],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    await once(child, 'close');
    return JSON.parse(text);
  }

  test('for want of perl starts no cell with rules', async () => {
    expect(await startsWith('/dev/null')).toEqual({
      none: 'started',
      rules: expect.stringMatching(/^backend-unavailable: .*perl/),
      open: expect.stringMatching(/^backend-unavailable: .*perl/),
    });
  });

  test('for want of nf_tables starts no cell with an open network, and one with rules', async () => {
    const place = mkdtempSync(join(tmpdir(), 'no-filter-'));
    onTestFinished(() => rmSync(place, { recursive: true, force: true }));
    const real = join(place, 'perl');
    execFileSync('cp', ['/usr/bin/perl', real]);
    // A kernel without the filter has no sockets to it.
    const program = `#!/bin/sh\nexec ${real} -e "$(printf '%s' "$2" | sed 's/(2, 10, 16, 12)/(2, 10, 16, 30)/')" "$3" "$4"\n`;
    const lame = join(place, 'lame-perl');
    writeFileSync(lame, program, { mode: 0o755 });
    expect(await startsWith(lame)).toEqual({
      none: 'started',
      rules: 'started',
      open: expect.stringMatching(/^backend-unavailable: .*nf_tables/),
    });
  });
});
