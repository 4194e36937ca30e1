/** A registry on loopback with the packages of this checkout, so that an installation is a real one and downloads nothing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { checkout, readText } from '../house/source.js';

interface Locked {
  readonly version: string;
  readonly bin?: unknown;
}

export interface LocalRegistry extends AsyncDisposable {
  readonly url: string;
}

export async function startLocalRegistry(): Promise<LocalRegistry> {
  const { packages } = JSON.parse(readText('package-lock.json')) as { packages: Record<string, Locked> };
  const server = createServer(({ url: asked = '' }, response) => {
    const path = decodeURIComponent(asked.slice(1));
    if (path.startsWith('-/')) return sendArchive(join(checkout, path.slice(2)), response);
    const description = describe(path, packages, url);
    response.setHeader('content-type', 'application/json');
    if (description === undefined) response.writeHead(404);
    response.end(JSON.stringify(description ?? {}));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What npm asks for about a package, with each version that the lock file has. */
function describe(name: string, packages: Record<string, Locked>, url: string): object | undefined {
  const places = Object.keys(packages).filter((place) => place.split('node_modules/').at(-1) === name);
  const [first] = places;
  if (first === undefined) return undefined;
  const versions = places.map((place) => {
    const { version, ...locked } = packages[place] as Locked;
    return [version, { ...locked, name, version, dist: { tarball: `${url}/-/${place}` } }];
  });
  const latest = packages[first]?.version;
  return { name, 'dist-tags': { latest }, versions: Object.fromEntries(versions) };
}

function sendArchive(folder: string, response: ServerResponse): void {
  if (!existsSync(folder)) return void response.writeHead(404).end();
  const parts = ['--exclude=./node_modules', '--transform=s,^[.],package,', '.'];
  const tar = spawn('tar', ['-czf', '-', '-C', folder, ...parts], { stdio: ['ignore', 'pipe', 'inherit'] });
  tar.stdout.pipe(response);
}
