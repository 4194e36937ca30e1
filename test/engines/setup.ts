/** Starts engines for the tests of a run when the first of them asks, and ends them with the run. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type OwnDockerEngine, startDockerEngine } from '../../scripts/engines/docker.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the socket that answers each connection with where the engine is. */
    engines: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = mkdtempSync(join(tmpdir(), 'workcell-engines-'));
  const path = join(directory, 's');
  let docker: Promise<OwnDockerEngine> | undefined;
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    docker ??= startDockerEngine();
    docker.then(
      ({ host, networkPid }) => socket.end(JSON.stringify({ host, networkPid })),
      (error: Error) => socket.end(JSON.stringify({ error: error.message })),
    );
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  project.provide('engines', path);
  return async () => {
    server.close();
    await (await docker?.catch(() => undefined))?.stop();
    rmSync(directory, { recursive: true, force: true });
  };
}
