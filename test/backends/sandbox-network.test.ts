/** Cells with network rules: real programs through the gateway, told of no proxy, against servers of the test's own. */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttp, type RequestListener } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createRuntime, type NetworkQuestion, type Runtime } from '../../src/index.js';

const place = mkdtempSync(join(tmpdir(), 'sandbox-network-'));
const site = join(place, 'site');
const workspace = join(place, 'workspace');
const servers: Server[] = [];
let runtime: Runtime;
let secure: string;
let plain: string;

/** What hosts with "private-" in front ask for. */
const secret = 'a-secret-of-the-tests';

/** Files of the site, by host and path; and what the request was. */
const serveSite: RequestListener = (request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://site');
  const named = String(request.headers.host).replace(/:\d+$/, '');
  const { authorization = '' } = request.headers;
  const [scheme = '', credentials = ''] = authorization.split(' ');
  const isBearer = scheme === 'Bearer' && credentials === secret;
  const isBasic = Buffer.from(credentials, 'base64').toString().endsWith(`:${secret}`);
  if (named.startsWith('private-') && !isBearer && !isBasic)
    return void response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="private"' }).end();
  const host = named.replace('private-', '');
  const file = join(site, host, normalize(decodeURIComponent(pathname)));
  try {
    const body = readFileSync(file.endsWith('/') ? `${file}index.html` : file);
    response.writeHead(200, {
      'Content-Type': file.endsWith('/') ? 'text/html' : 'application/octet-stream',
    });
    response.end(
      named === host
        ? body
        : Buffer.from(body.toString('latin1').replace('//npm.', '//private-npm.'), 'latin1'),
    );
  } catch {
    response.writeHead(404).end();
  }
};

async function listen(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function put(path: string, content: string | Buffer): void {
  mkdirSync(join(site, path, '..'), { recursive: true });
  writeFileSync(join(site, path), content);
}

function makeCertificates(): { key: Buffer; cert: Buffer } {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: place, stdio: 'pipe' });
  const subject = ['-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=test'];
  openssl('req', '-x509', ...subject, '-keyout', 'ca.key', '-out', 'workspace/ca.pem');
  openssl('req', ...subject, '-keyout', 'site.key', '-out', 'site.csr');
  writeFileSync(join(place, 'names'), 'subjectAltName=DNS:*.site.test\n');
  const ca = ['-CA', 'workspace/ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2'];
  openssl('x509', '-req', '-in', 'site.csr', ...ca, '-extfile', 'names', '-out', 'site.pem');
  return { key: readFileSync(join(place, 'site.key')), cert: readFileSync(join(place, 'site.pem')) };
}

function makeSite(): void {
  put('web.site.test/hello', 'hello\n');
  const source = join(place, 'source');
  const git = (...args: string[]) => execFileSync('git', args, { cwd: place, stdio: 'pipe' });
  git('init', '--quiet', source);
  writeFileSync(join(source, 'README'), 'a repository\n');
  git('-C', source, 'add', '.');
  git('-C', source, '-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '--quiet', '-m', 'first');
  git('clone', '--quiet', '--bare', source, join(site, 'git.site.test/repository.git'));
  git('-C', join(site, 'git.site.test/repository.git'), 'update-server-info');
  makeNpmPackage();
  makeWheel();
}

function makeNpmPackage(): void {
  mkdirSync(join(place, 'package'));
  writeFileSync(join(place, 'package/package.json'), JSON.stringify({ name: 'tiny', version: '1.0.0' }));
  writeFileSync(join(place, 'package/index.js'), 'module.exports = 42;\n');
  execFileSync('tar', ['czf', 'tiny.tgz', 'package'], { cwd: place });
  const tarball = readFileSync(join(place, 'tiny.tgz'));
  put('npm.site.test/tiny-1.0.0.tgz', tarball);
  const shasum = createHash('sha1').update(tarball).digest('hex');
  const dist = { tarball: 'https://npm.site.test/tiny-1.0.0.tgz', shasum };
  const versions = { '1.0.0': { name: 'tiny', version: '1.0.0', dist } };
  put('npm.site.test/tiny', JSON.stringify({ name: 'tiny', 'dist-tags': { latest: '1.0.0' }, versions }));
}

function makeWheel(): void {
  const name = 'tinywheel-1.0-py3-none-any.whl';
  const source = `import zipfile, sys
with zipfile.ZipFile(sys.argv[1], 'w') as z:
    z.writestr('tinywheel.py', 'answer = 42')
    z.writestr('tinywheel-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: tinywheel\\nVersion: 1.0\\n')
    z.writestr('tinywheel-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    z.writestr('tinywheel-1.0.dist-info/RECORD', '')`;
  mkdirSync(join(site, 'pip.site.test/simple/tinywheel'), { recursive: true });
  execFileSync('python3', ['-c', source, join(site, 'pip.site.test/simple/tinywheel', name)]);
  put('pip.site.test/simple/tinywheel/index.html', `<a href="${name}">${name}</a>`);
}

const trust = {
  CURL_CA_BUNDLE: '/workspace/ca.pem',
  GIT_SSL_CAINFO: '/workspace/ca.pem',
  NODE_EXTRA_CA_CERTS: '/workspace/ca.pem',
  SSL_CERT_FILE: '/workspace/ca.pem',
  PIP_CERT: '/workspace/ca.pem',
  npm_config_cafile: '/workspace/ca.pem',
};

beforeAll(async () => {
  chmodSync(place, 0o755);
  for (const directory of [site, workspace]) mkdirSync(directory, { mode: 0o755 });
  plain = await listen(createHttp(serveSite));
  secure = await listen(createHttps(makeCertificates(), serveSite));
  makeSite();
  const names = ['web', 'git', 'npm', 'pip', 'other'].map((name) => `${name}.site.test`);
  runtime = await createRuntime({
    backend: 'sandbox',
    config: false,
    workspace,
    env: trust,
    network: {
      allow: ['web.site.test:443', 'git.site.test', 'npm.site.test', 'pip.site.test', 'plain.test'],
      hosts: { ...Object.fromEntries(names.map((name) => [name, secure])), 'plain.test': plain },
    },
  });
});

afterAll(async () => {
  await runtime?.close();
  for (const server of servers) server.close();
  rmSync(place, { recursive: true, force: true });
});

/** Fails with the output, which tells why, unless the command succeeds. */
async function succeed(command: string): Promise<string> {
  const { exitCode, output } = await runtime.run(command, { timeoutMs: 60_000 });
  if (exitCode !== 0) throw new Error(`${command} ended with ${exitCode}: ${output}`);
  return output;
}

const fetchWith = (program: string) => `${program} 'https://web.site.test/hello'`;
const inPython = 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())';

describe('programs that know nothing of a proxy', () => {
  test.each([
    ['curl', fetchWith('curl -sSf')],
    ['wget', fetchWith('wget -qO- --ca-certificate=/workspace/ca.pem')],
    ['Node', fetchWith(`node -e 'fetch(process.argv[1]).then((r) => r.text()).then(console.log)'`)],
    ['Python', fetchWith(`/usr/bin/python3 -c '${inPython}'`)],
  ])('%s', async (_name, command) => expect(await succeed(command)).toContain('hello'));

  test('git clones over https', async () => {
    await succeed('git clone --quiet https://git.site.test/repository.git && cat repository/README');
  });

  test('npm installs from a registry', async () => {
    await succeed('mkdir -p app && echo {} >app/package.json');
    await succeed('npm install --prefix app --no-audit --no-fund --registry https://npm.site.test tiny');
    expect(await succeed(`node -p 'require("/workspace/app/node_modules/tiny")'`)).toContain('42');
  });

  test('pip installs from an index', async () => {
    await succeed(
      '/usr/bin/pip3 install --quiet --disable-pip-version-check --target /workspace/py --index-url https://pip.site.test/simple tinywheel',
    );
    expect(
      await succeed(`PYTHONPATH=/workspace/py /usr/bin/python3 -c 'print(__import__("tinywheel").answer)'`),
    ).toContain('42');
  });
});

describe('secrets that stay outside, and requests that are read', () => {
  let secretive: Runtime;
  const names = ['private-git', 'private-npm', 'private-pip', 'web'].map((name) => `${name}.site.test`);

  beforeAll(async () => {
    // The owner trusts the site; the cell is told nothing.
    vi.stubEnv('SSL_CERT_FILE', join(workspace, 'ca.pem'));
    secretive = await createRuntime({
      backend: 'sandbox',
      config: false,
      workspace,
      secrets: { TOKEN: { value: secret, reach: 'network', hosts: ['private-*.site.test'] } },
      network: {
        allow: ['private-*.site.test', 'plain.test'],
        requests: [{ host: 'web.site.test', methods: ['GET', 'HEAD'] }],
        hosts: { ...Object.fromEntries(names.map((name) => [name, secure])), 'plain.test': plain },
      },
    });
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await secretive?.close();
  });

  async function succeedThere(command: string): Promise<string> {
    const { exitCode, output } = await secretive.run(command, { timeoutMs: 60_000 });
    if (exitCode !== 0) throw new Error(`${command} ended with ${exitCode}: ${output}`);
    return output;
  }

  test('git clones with a token as its password', async () => {
    await succeedThere(
      'git clone -q https://x:$TOKEN@private-git.site.test/repository.git own && cat own/README',
    );
    expect(await succeedThere('env; cat own/.git/config')).not.toContain(secret);
  });

  test('npm installs from a private registry', async () => {
    await succeedThere(
      "mkdir -p secret && echo {} >secret/package.json && echo '//private-npm.site.test/:_authToken=${TOKEN}' >secret/.npmrc",
    );
    await succeedThere(
      '(cd secret && npm install --no-audit --no-fund --registry https://private-npm.site.test tiny)',
    );
    expect(await succeedThere(`node -p 'require("/workspace/secret/node_modules/tiny")'`)).toContain('42');
  });

  test('pip installs from a private index', async () => {
    await succeedThere(
      '/usr/bin/pip3 install --quiet --disable-pip-version-check --target /workspace/own-py --index-url https://x:$TOKEN@private-pip.site.test/simple tinywheel',
    );
  });

  test('a placeholder on its way elsewhere is refused and recorded', async () => {
    const { output, notice } = await secretive.run('curl -sS -H "X-Key: $TOKEN" http://plain.test/hello');
    expect(JSON.parse(output)).toMatchObject({
      host: 'plain.test',
      reason: expect.stringContaining('TOKEN'),
    });
    expect(notice).toContain('placeholder of the secret TOKEN');
    expect((await secretive.run('curl -sS -o /dev/null -w "%{http_code}" http://plain.test/')).output).toBe(
      '404',
    );
  });

  test('a host that is read only takes no other requests', async () => {
    expect(
      await succeedThere('curl -sSf https://web.site.test/hello; wget -qO- https://web.site.test/hello'),
    ).toBe('hello\nhello\n');
    const { output } = await secretive.run('curl -sS -d a=b https://web.site.test/hello');
    expect(JSON.parse(output)).toMatchObject({ reason: 'no rule allows the method POST there' });
  });

  test('needs a cell with rules', async () => {
    const secrets = { TOKEN: { value: secret, reach: 'network', hosts: ['a.test'] } } as const;
    await expect(createRuntime({ backend: 'sandbox', config: false, secrets })).rejects.toMatchObject({
      code: 'invalid-config',
      details: { secret: 'TOKEN' },
    });
  });
});

describe('what no rule allows', () => {
  test('is refused in words that the program shows, and the agent is told', async () => {
    const plain = await runtime.run('curl -sS http://other.site.test/hello');
    expect(JSON.parse(plain.output)).toMatchObject({
      error: 'refused-by-network-rules',
      host: 'other.site.test',
    });
    expect(plain.notice).toMatch(/refused other\.site\.test:80 \(no rule allows this host\)/);
    const secure = await runtime.run('curl -sS https://other.site.test/hello');
    expect(secure.output).toContain('alert access denied');
    const port = await runtime.run('curl -sS https://web.site.test:8443/hello');
    expect(port.exitCode).toBe(7);
    const allowed = await runtime.run('curl -sS https://web.site.test/hello');
    expect(allowed).toMatchObject({ exitCode: 0, output: 'hello\n' });
    expect(allowed.notice).toBeUndefined();
  });

  test.each([
    ['its name for the loopback of the owner', 'localhost'],
    ['the number of that', '127.0.0.1'],
    ['the same as one number', '2130706433'],
    ['the same in IPv6', '[::ffff:127.0.0.1]'],
    ['the address that every interface has', '0.0.0.0'],
  ])('%s', async (_what, host) => {
    const { port } = (servers[0] as Server).address() as AddressInfo;
    const { exitCode } = await runtime.run(`curl -sS -m 5 http://${host}:${port}/`);
    expect(exitCode).not.toBe(0);
  });

  test('an allowed name for another address, in the hosts of a program', async () => {
    const { output } = await runtime.run(
      'curl -sS --connect-to web.site.test:443:203.0.113.9:443 https://web.site.test/hello',
    );
    // It reaches the server of the name, whatever address the program takes it for.
    expect(output).toBe('hello\n');
    const fronted = await runtime.run(
      `curl -sS -k --connect-to other.site.test:443:web.site.test:443 https://other.site.test/hello`,
    );
    expect(fronted.output).toContain('alert access denied');
  });

  test('datagrams to anybody but the resolver', async () => {
    const send = `/usr/bin/python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(("203.0.113.9", 443)); s.send(b"x")
try: s.settimeout(5); s.recv(9)
except ConnectionRefusedError: print("refused")'`;
    expect((await runtime.run(send)).output).toContain('refused');
  });

  test('power over its own network', async () => {
    const { output } = await runtime.run(
      'ip link set lo down; ip route del local 0.0.0.0/0 dev lo table local; unshare -Urn true',
    );
    expect(output.match(/not permitted|No space left|Invalid argument/g)?.length).toBe(3);
    await succeed('curl -sSf https://web.site.test/hello');
  });
});

test('rules change while the cell runs, and a new port is listened on', async () => {
  const server = createHttp((_request, response) => response.end('live'));
  const place = await listen(server);
  const rules = runtime.network.rules();
  await runtime.network.set({ ...rules, hosts: { ...rules?.hosts, 'live.test': place } });
  expect((await runtime.run('curl -sS http://live.test:8765/')).exitCode).toBe(7);
  await runtime.network.allow('live.test:8765');
  expect(await succeed('curl -sS http://live.test:8765/')).toBe('live');
  await runtime.network.deny('live.test');
  expect((await runtime.run('curl -sS http://live.test:8765/')).output).toContain('a rule denies it');
  await expect(runtime.network.allow('http://x')).rejects.toMatchObject({ code: 'invalid-config' });
});

test('every connection and every change is in the record', async () => {
  await succeed('curl -sSf http://plain.test/../plain.test/ || true');
  const recorded = [];
  for await (const event of runtime.events.since(0)) {
    if (event.kind === 'network') recorded.push(event.network);
    if (event.kind === 'network' && event.network.outcome === 'closed' && event.network.host === 'plain.test')
      break;
  }
  const { network } = await runtime.stats();
  expect(network?.receivedBytes).toBeGreaterThan(1000);
  expect(network?.refused).toBeGreaterThan(1);
  expect(recorded).toContainEqual(expect.objectContaining({ outcome: 'changed' }));
  expect(recorded).toContainEqual(expect.objectContaining({ outcome: 'refused', host: 'other.site.test' }));
  expect(recorded.at(-1)).toMatchObject({ port: 80, rule: 'plain.test', address: '127.0.0.1' });
});

test('the cell says that rules are enforced, and other backends refuse them', async () => {
  expect(runtime.isolation.facts).toContainEqual({
    code: 'network',
    enforced: true,
    values: { kind: 'rules', networks: [], publishedPorts: 0 },
  });
  const network = { allow: ['web.site.test'] };
  for (const backend of ['cli', 'local'] as const)
    await expect(createRuntime({ backend, config: false, network } as never)).rejects.toMatchObject({
      code: 'capability-unsupported',
    });
  await using kept = await createRuntime({ backend: 'sandbox', config: false, network, keepAlive: true });
  expect(kept.network.rules()).toMatchObject(network);
  await using bare = await createRuntime({ backend: 'sandbox', config: false });
  expect(bare.network.rules()).toBeUndefined();
  await expect(bare.network.allow('a.test')).rejects.toMatchObject({ code: 'capability-unsupported' });
});

test('settings have rules too, and what they deny stays denied', async () => {
  const config = join(place, 'workcell.toml');
  writeFileSync(config, '[network]\nallow = ["a.test"]\ndeny = ["b.test"]\n');
  await using ruled = await createRuntime({ backend: 'sandbox', config });
  expect(ruled.network.rules()).toMatchObject({ allow: ['a.test'], deny: ['b.test'] });
  await using coded = await createRuntime({ backend: 'sandbox', config, network: { allow: ['b.test'] } });
  expect(coded.network.rules()).toMatchObject({ allow: ['b.test'], deny: ['b.test'] });
  await coded.network.set({ allow: ['b.test'], deny: ['c.test'] });
  expect(coded.network.rules()).toMatchObject({ allow: ['b.test'], deny: ['b.test', 'c.test'] });
  for (const network of ['open', 'host'] as const)
    await expect(createRuntime({ backend: 'sandbox', config, network })).rejects.toMatchObject({
      code: 'invalid-config',
      details: { key: 'network.deny' },
    });
  await expect(createRuntime({ backend: 'cli', config })).rejects.toMatchObject({
    code: 'capability-unsupported',
  });
  writeFileSync(config, '[network]\nmode = "open"\nallow = ["a.test"]\n');
  await expect(createRuntime({ backend: 'sandbox', config })).rejects.toMatchObject({
    code: 'invalid-config',
  });
  writeFileSync(config, '[network]\nmode = "none"\nallow = ["a.test"]\ndeny = ["b.test"]\n');
  await expect(createRuntime({ backend: 'cli', config })).rejects.toMatchObject({
    code: 'invalid-config',
  });
  await using none = await createRuntime({ backend: 'sandbox', config });
  expect(none.network.rules()).toBeUndefined();
});

test('questions come with the commands that run', async () => {
  const asked: NetworkQuestion[] = [];
  await using asking = await createRuntime({
    backend: 'sandbox',
    config: false,
    network: { ask: true },
    askNetwork: (question) => {
      asked.push(question);
      return 'deny';
    },
  });
  const { output } = await asking.run('curl -sS http://unknown.test/');
  expect(output).toContain('asked about and denied');
  expect(asked).toEqual([{ host: 'unknown.test', port: 80, commands: ['curl -sS http://unknown.test/'] }]);
});

test('a user without privileges has the same, and a killed owner leaves no way out and nothing behind', async () => {
  const owner = fileURLToPath(new URL('./network/plain-owner.ts', import.meta.url));
  const home = mkdtempSync(join(tmpdir(), 'network-nobody-'));
  chmodSync(home, 0o777);
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), owner], {
    cwd: home,
    uid: 65_534,
    gid: 65_534,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, LANG: 'C.UTF-8' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').once('data', resolve);
    child.once('exit', () => reject(new Error(complaint)));
  });
  expect(JSON.parse(line)).toEqual({ allowed: 'hello', refused: 'refused-by-network-rules', power: 1 });
  const family = descendants(child.pid ?? 0);
  expect(family.map((pid) => commandOf(pid)).join('\n')).toContain('perl');
  child.kill('SIGKILL');
  await vi.waitFor(() => expect(family.filter((pid) => commandOf(pid) !== '')).toEqual([]), {
    timeout: 20_000,
  });
  rmSync(home, { recursive: true, force: true });
});

function descendants(pid: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), Number(/\) \S (\d+)/.exec(read(`/proc/${name}/stat`))?.[1])] as const);
  const found = new Set([pid]);
  for (let size = 0; size !== found.size; ) {
    size = found.size;
    for (const [child, parent] of parents) if (found.has(parent)) found.add(child);
  }
  found.delete(pid);
  return [...found];
}

/** Empty for a process that has ended, or is about to. */
function commandOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
