/** The image of the service, as deploy/image makes it, on an engine of the tests. */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { builtFile } from '../built-file.js';
import { images } from '../engines/docker.js';
import { checkout } from '../house/source.js';

export const run = promisify(execFile);

/** From the build of this run, on a Debian with the Node of this machine: no registry is there that has a base. */
export async function buildServiceImage(engine: string, name: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'workcell-image-'));
  const env = { ...process.env, DOCKER_HOST: engine };
  try {
    const base = join(folder, 'base');
    cpSync(process.execPath, join(base, 'node'));
    writeFileSync(join(base, 'Dockerfile'), `FROM ${images.bare}\nCOPY node /usr/local/bin/node\n`);
    const sources = join(folder, 'package');
    cpSync(builtFile('/'), join(sources, 'dist'), { recursive: true });
    cpSync(join(checkout, 'package.json'), join(sources, 'package.json'));
    await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: sources });
    const tarball = readdirSync(folder).find((file) => file.endsWith('.tgz')) ?? '';
    await run('docker', ['build', '--quiet', '--tag', `${name}-base`, base], { env });
    const words = ['--quiet', '--build-arg', `BASE=${name}-base`, '--tag', name];
    await run(join(checkout, 'deploy/image/build'), [join(folder, tarball), ...words], { env });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
