/** The program of a local cell, which starts and waits for its settings. */
import { join } from 'node:path';
import { executorCommand } from '../executor-program.js';
import { type ServerProcess, startProgram } from '../server-process.js';

/** `home` is its own directory. */
export function startLocalServer(home: string, { keepAlive }: { keepAlive: boolean }): ServerProcess {
  return startProgram({
    who: 'The server',
    argv: [...executorCommand(), 'cell'],
    directory: home,
    ...(keepAlive && { logFile: join(home, 'log') }),
  });
}
