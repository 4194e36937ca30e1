/** Servers that start ahead of demand, so that the next cell does not wait for one. */
import type { ServerProcess } from '../server-process.js';
import { type Home, makeHome, removeHome } from './local-home.js';
import { startLocalServer } from './local-server.js';

interface Prepared {
  readonly home: Home;
  readonly process: ServerProcess;
}

const idle: Prepared[] = [];

/** A server that waits for its settings: one from the pool, or a new one. */
export function takeServer(warm: number): Prepared {
  let taken = idle.shift();
  // Skip one that died while it waited.
  while (taken !== undefined && taken.process.pid === -1) taken = idle.shift();
  const server = taken ?? prepare();
  if (warm > 0) setImmediate(() => fillServers(warm)).unref();
  return server;
}

/** Starts servers until so many wait. Where none can start, the cells that have theirs go on, and the next start tells why. */
export function fillServers(count: number): void {
  try {
    while (idle.length < count) wait(prepare());
  } catch {
    // This runs after a start that succeeded, and nobody waits for it.
  }
}

function wait(prepared: Prepared): void {
  idle.push(prepared);
  void prepared.process.exited.then(async () => {
    const index = idle.indexOf(prepared);
    if (index === -1) return;
    idle.splice(index, 1);
    await removeHome(prepared.home).catch(() => {});
  });
}

function prepare(): Prepared {
  const home = makeHome();
  try {
    return { home, process: startLocalServer(home.path, { keepAlive: false }) };
  } catch (error) {
    void removeHome(home).catch(() => {});
    throw error;
  }
}
