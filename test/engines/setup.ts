/** Starts engines for the tests of a run when the first of them asks, and ends them with the run. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startDockerEngine } from '../../scripts/engines/docker.js';
import { startKubernetesCluster } from '../../scripts/engines/kubernetes.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the socket that answers each connection with where the engine is. */
    engines: string;
  }
}

/** Where it is goes to the tests as JSON; what it does stays here. */
interface OwnEngine {
  stop(): Promise<void>;
}

const starters = { docker: startDockerEngine, kubernetes: startKubernetesCluster };
type EngineName = keyof typeof starters;

/** Many tests share an engine, so a busy machine that keeps one from starting must not fail all of them. */
async function startPatiently(name: EngineName, tries = 3): Promise<OwnEngine> {
  try {
    return await starters[name]();
  } catch (error) {
    console.error(`The engine ${name} did not start, ${tries - 1} tries left: ${error}`);
    if (tries === 1) throw error;
    return startPatiently(name, tries - 1);
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = mkdtempSync(join(tmpdir(), 'workcell-engines-'));
  const path = join(directory, 's');
  const engines: Partial<Record<EngineName, Promise<OwnEngine>>> = {};
  const server = createServer({ allowHalfOpen: true }, async (socket) => {
    // The name fits into one piece.
    const [piece] = await once(socket, 'data');
    const name = String(piece) as EngineName;
    const engine = engines[name] ?? startPatiently(name);
    engines[name] = engine;
    engine.then(
      (started) => socket.end(JSON.stringify(started)),
      (error: Error) => socket.end(JSON.stringify({ error: error.message })),
    );
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  project.provide('engines', path);
  return async () => {
    server.close();
    await Promise.all(
      Object.values(engines).map(async (engine) => (await engine.catch(() => undefined))?.stop()),
    );
    rmSync(directory, { recursive: true, force: true });
  };
}
