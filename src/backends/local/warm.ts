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
  if (warm > 0) setImmediate(() => fill(warm)).unref();
  return server;
}

function fill(count: number): void {
  while (idle.length < count) {
    const prepared = prepare();
    idle.push(prepared);
    void prepared.process.exited.then(() => {
      const index = idle.indexOf(prepared);
      if (index === -1) return;
      idle.splice(index, 1);
      void removeHome(prepared.home);
    });
  }
}

function prepare(): Prepared {
  const home = makeHome();
  return { home, process: startLocalServer(home.path, { keepAlive: false }) };
}
