/** A registry that holds one image, in the network of the test engine. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { DockerEngine } from '../../scripts/engines/docker.js';

const run = promisify(execFile);

/** Serves what `docker save` wrote, by the calls that an engine pulls with, and says its port. */
const program = `
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
const [saved] = JSON.parse(readFileSync('manifest.json', 'utf8'));
const blobs = new Map();
const keep = (content, mediaType) => {
  const digest = 'sha256:' + createHash('sha256').update(content).digest('hex');
  blobs.set(digest, content);
  return { mediaType, size: content.length, digest };
};
const type = 'application/vnd.docker.distribution.manifest.v2+json';
const manifest = Buffer.from(JSON.stringify({
  schemaVersion: 2,
  mediaType: type,
  config: keep(readFileSync(saved.Config), 'application/vnd.docker.container.image.v1+json'),
  layers: saved.Layers.map((path) => keep(readFileSync(path), 'application/vnd.docker.image.rootfs.diff.tar.gzip')),
}));
const { digest } = keep(manifest, type);
createServer((request, response) => {
  const [, name] = /(?:manifests|blobs)\\/(.+)$/.exec(request.url) ?? [];
  const found = request.url === '/v2/' ? '{}' : blobs.get(name === 'latest' ? digest : name);
  const isManifest = request.url.includes('/manifests/');
  response.writeHead(found === undefined ? 404 : 200, {
    'docker-distribution-api-version': 'registry/2.0',
    ...(isManifest && { 'content-type': type, 'docker-content-digest': digest }),
    ...(found !== undefined && { 'content-length': Buffer.byteLength(found) }),
  });
  response.end(request.method === 'HEAD' ? undefined : found);
}).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
`;

/** Gives the name under which the engine can pull the image. */
export async function serveImage(
  { host, networkPid }: DockerEngine,
  image: string,
): Promise<{ name: string; stop(): Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), 'registry-'));
  await run('docker', ['--host', host, 'save', '--output', join(directory, 'image.tar'), image]);
  await run('tar', ['-C', directory, '-xf', join(directory, 'image.tar')]);
  const server = spawn(
    'setpriv',
    [
      ...['--pdeathsig', 'KILL', 'nsenter', `--net=/proc/${networkPid}/ns/net`],
      ...[process.execPath, '--input-type=module', '--eval', program],
    ],
    { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [port] = await once(server.stdout.setEncoding('utf8'), 'data');
  return {
    name: `127.0.0.1:${String(port).trim()}/pulled`,
    async stop() {
      const exited = once(server, 'exit');
      server.kill();
      await exited;
      rmSync(directory, { recursive: true });
    },
  };
}
