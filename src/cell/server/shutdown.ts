/** Ends a server's process in order on request. */
import type { Readable } from 'node:stream';
import { stopWatchdog } from '../launchers/watchdog.js';
import type { ExecutorServer } from './serve-executor.js';

/**
 * Signals, and the end of an input that the starter of the server keeps open. Returns a function that does the same.
 */
export function shutDownOn(
  server: ExecutorServer,
  options: { input?: Readable | undefined; commands: 'end' | 'detach' },
): (exitCode: number) => void {
  let asked = false;
  const shutDown = (exitCode: number) => {
    // A second request means: do not wait.
    if (asked) process.exit(exitCode);
    asked = true;
    if (options.commands === 'detach') stopWatchdog();
    void server.close(options.commands).finally(() => process.exit(exitCode));
  };
  process.on('SIGTERM', () => shutDown(0));
  process.on('SIGINT', () => shutDown(130));
  process.on('SIGHUP', () => shutDown(129));
  const { input } = options;
  if (input === undefined) return shutDown;
  input.once('end', () => shutDown(0));
  input.once('error', () => shutDown(0));
  input.resume();
  return shutDown;
}
