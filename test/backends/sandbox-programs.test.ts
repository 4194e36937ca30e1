/** Further programs through the gateway of a cell, told of no proxy: git over ssh, apt, Go, Java and Chromium. */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttp, type RequestListener } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { createRuntime, type Runtime } from '../../src/index.js';

const place = mkdtempSync(join(tmpdir(), 'sandbox-programs-'));
const workspace = join(place, 'workspace');
const servers: Server[] = [];
const files = new Map<string, string | Buffer>();
let runtime: Runtime;
let secureSite: string;

const serve: RequestListener = ({ headers, url = '' }, response) => {
  const body = files.get(`${headers.host}${url}`);
  response.writeHead(body === undefined ? 404 : 200, { 'Content-Type': 'text/html' }).end(body);
};

async function listen(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function here(program: string, ...args: string[]): string {
  return execFileSync(program, args, { cwd: place, encoding: 'utf8', stdio: 'pipe' });
}

/** One that signs itself, for a key and the hosts of the tests. */
function makeCertificate() {
  const subject = ['-subj', '/CN=site.test', '-addext', 'subjectAltName=DNS:*.site.test'];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', 'key.pem'];
  here('openssl', 'req', '-x509', ...key, '-days', '2', ...subject, '-out', 'workspace/ca.pem');
  return { key: readFileSync(join(place, 'key.pem')), cert: readFileSync(join(workspace, 'ca.pem')) };
}

/** A real one for each connection, which speaks on it and nowhere else. */
function sshServer(): Server {
  for (const name of ['host', 'workspace/user'])
    here('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', join(place, name));
  const options = ['UsePAM=no', 'StrictModes=no', `AuthorizedKeysFile=${join(workspace, 'user.pub')}`];
  const args = [
    '-i',
    '-f',
    '/dev/null',
    '-h',
    join(place, 'host'),
    ...options.flatMap((option) => ['-o', option]),
  ];
  mkdirSync('/run/sshd', { recursive: true });
  return createServer({ pauseOnConnect: true }, (socket) => {
    const child = spawn('/usr/sbin/sshd', args, { stdio: [socket, socket, 'ignore'] });
    child.once('exit', () => socket.destroy());
  });
}

function makeRepository(): void {
  const git = (...args: string[]) => here('git', '-c', 'user.name=A', '-c', 'user.email=a@b.c', ...args);
  git('init', '--quiet', 'source');
  writeFileSync(join(place, 'source/README'), 'a repository\n');
  git('-C', 'source', 'add', '.');
  git('-C', 'source', 'commit', '--quiet', '-m', 'first');
}

function makeDebianPackage(): void {
  mkdirSync(join(place, 'deb/DEBIAN'), { recursive: true });
  const control = [
    'Package: tiny',
    'Version: 1',
    'Architecture: all',
    'Maintainer: A <a@b.c>',
    'Description: tiny',
  ];
  writeFileSync(join(place, 'deb/DEBIAN/control'), `${control.join('\n')}\n`);
  here('dpkg-deb', '--build', 'deb', 'tiny.deb');
  const bytes = readFileSync(join(place, 'tiny.deb'));
  const digest = createHash('sha256').update(bytes).digest('hex');
  const entry = [...control, 'Filename: ./tiny.deb', `Size: ${bytes.length}`, `SHA256: ${digest}`];
  files.set('apt.site.test/./tiny.deb', bytes);
  files.set('apt.site.test/./Packages', `${entry.join('\n')}\n`);
}

function makeGoModule(): void {
  mkdirSync(join(place, 'module/tiny.site.test@v1.0.0'), { recursive: true });
  writeFileSync(join(place, 'module/tiny.site.test@v1.0.0/go.mod'), 'module tiny.site.test\n');
  here('python3', '-c', 'import shutil; shutil.make_archive("module", "zip", "module")');
  const at = (name: string) => `go.site.test/tiny.site.test/@v/v1.0.0.${name}`;
  files.set(at('info'), JSON.stringify({ Version: 'v1.0.0' }));
  files.set(at('mod'), 'module tiny.site.test\n');
  files.set(at('zip'), readFileSync(join(place, 'module.zip')));
}

beforeAll(async () => {
  chmodSync(place, 0o755);
  mkdirSync(workspace, { mode: 0o755 });
  const certificate = makeCertificate();
  const [secure, plain, ssh] = [
    await listen(createHttps(certificate, serve)),
    await listen(createHttp(serve)),
    await listen(sshServer()),
  ];
  makeRepository();
  makeDebianPackage();
  makeGoModule();
  files.set('java.site.test/', 'for Java');
  files.set('page.site.test/', '<title>A page</title><p>through the gateway</p>');
  runtime = await createRuntime({
    backend: 'sandbox',
    config: false,
    workspace,
    plugins: ['browser'],
    network: {
      allow: ['ssh.site.test:22', 'apt.site.test', 'go.site.test', 'java.site.test', 'page.site.test'],
      hosts: {
        ...Object.fromEntries(['apt', 'go', 'java'].map((name) => [`${name}.site.test`, secure])),
        'ssh.site.test': ssh,
        'page.site.test': plain,
        'other.site.test': plain,
      },
    },
  });
  secureSite = secure;
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

test('git clones over ssh', async () => {
  const ssh = 'ssh -i /workspace/user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null';
  await succeed(
    `GIT_SSH_COMMAND='${ssh}' git clone --quiet ssh://root@ssh.site.test${place}/source && cat source/README`,
  );
  const { output } = await runtime.run(`${ssh} -p 22 root@other.site.test true`);
  expect(output).toMatch(/closed by remote host|reset by peer/);
});

test('apt updates its lists and downloads a package', async () => {
  const options = [
    'Etc::sourcelist=/workspace/sources.list',
    'Etc::sourceparts=/dev/null',
    'State=/workspace/apt',
  ];
  const paths = [...options, 'State::status=/dev/null', 'Cache=/workspace/apt/cache'];
  const apt = `apt-get -q -o Acquire::https::CaInfo=/workspace/ca.pem ${paths.map((path) => `-o Dir::${path}`).join(' ')}`;
  await succeed('mkdir -p apt/lists/partial apt/cache/archives/partial');
  await succeed("echo 'deb [trusted=yes] https://apt.site.test/ ./' >sources.list");
  await succeed(`${apt} update && ${apt} download tiny && dpkg-deb -f tiny_1_all.deb Package`);
});

test('Go downloads a module', async () => {
  const settings =
    'GOPROXY=https://go.site.test GONOSUMDB=* GOFLAGS=-modcacherw SSL_CERT_FILE=/workspace/ca.pem GOTOOLCHAIN=local';
  const go = '$(command -v go || echo /usr/local/go/bin/go)';
  expect(
    await succeed(`mkdir -p go && cd go && ${settings} ${go} mod download -json tiny.site.test@v1.0.0`),
  ).toContain('"Version": "v1.0.0"');
});

test('Java fetches over https', async () => {
  const source = `import java.net.*;
class Fetch {
  public static void main(String[] args) throws Exception {
    try (var in = new URL(args[0]).openStream()) { System.out.println(new String(in.readAllBytes())); }
  }
}`;
  writeFileSync(join(workspace, 'Fetch.java'), source);
  const trust = ['-keystore', 'workspace/trust', '-storepass', 'changeit', '-noprompt'];
  here('keytool', '-importcert', '-file', 'workspace/ca.pem', '-alias', 'site', ...trust);
  here('javac', '-d', 'workspace', 'workspace/Fetch.java');
  const output = await succeed(
    'java -XX:TieredStopAtLevel=1 -Djavax.net.ssl.trustStore=/workspace/trust -Djavax.net.ssl.trustStorePassword=changeit -cp /workspace Fetch https://java.site.test/',
  );
  expect(output).toContain('for Java');
});

test('Java trusts hosts whose TLS is opened and those that the machine trusts, and no others', async () => {
  vi.stubEnv('SSL_CERT_FILE', join(workspace, 'ca.pem'));
  const hosts = { 'java.site.test': secureSite, 'page.site.test': secureSite };
  const requests = [{ host: 'page.site.test', methods: ['GET'] }];
  const network = { allow: ['java.site.test'], requests, hosts };
  const opened = await createRuntime({ backend: 'sandbox', config: false, workspace, network });
  vi.stubEnv('SSL_CERT_FILE', '');
  const closed = await createRuntime({ backend: 'sandbox', config: false, workspace, network });
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await Promise.all([opened.close(), closed.close()]);
  });
  const fetch = (name: string) =>
    `java -XX:TieredStopAtLevel=1 -cp /workspace Fetch https://${name}.site.test/`;
  // The gateway judges the servers behind opened hosts by what this process trusts when it connects.
  expect((await closed.run(fetch('java'))).output).toContain('PKIX path building failed');
  expect((await opened.run(fetch('java'))).output).toContain('for Java');
  vi.stubEnv('SSL_CERT_FILE', join(workspace, 'ca.pem'));
  expect((await opened.run(fetch('page'))).output).toContain('A page');
  expect(
    (await opened.run('keytool -list -keystore /run/workcell-trust/java.jks -storepass changeit')).output,
  ).toMatch(/Your keystore contains \d{2,} entries/);
});

test('Chromium opens a page, and is told why it opens no other', async () => {
  const page = await runtime.browse('http://page.site.test/');
  expect(page).toMatchObject({ title: 'A page', text: expect.stringContaining('through the gateway') });
  const other = await runtime.browse('http://other.site.test/');
  expect(other.text).toContain('refused-by-network-rules');
});

test('Chromium trusts hosts whose TLS is opened, and no others', async () => {
  vi.stubEnv('SSL_CERT_FILE', join(workspace, 'ca.pem'));
  const opened = await createRuntime({
    backend: 'sandbox',
    config: false,
    plugins: ['browser'],
    network: {
      allow: ['java.site.test'],
      requests: [{ host: 'page.site.test', methods: ['GET'] }],
      hosts: { 'java.site.test': secureSite, 'page.site.test': secureSite },
    },
  });
  onTestFinished(() => {
    vi.unstubAllEnvs();
    return opened.close();
  });
  expect(await opened.browse('https://page.site.test/')).toMatchObject({ title: 'A page' });
  expect((await opened.browse('https://java.site.test/')).error).toContain('ERR_CERT_AUTHORITY_INVALID');
});
