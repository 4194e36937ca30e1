/** The program of a local cell, started and waiting to be told what to serve. */
import { join } from 'node:path';
import { programWords } from '../programs.js';
import { type ServerProcess, startProgram } from '../server-process.js';

/** `home` is its own directory. */
export function startLocalServer(home: string, { keepAlive }: { keepAlive: boolean }): ServerProcess {
  return startProgram({
    who: 'The server',
    // In one file where it was built, which loads several times as fast.
    program: [...programWords('cell/main', 'cjs'), 'cell'],
    directory: home,
    ...(keepAlive && { logFile: join(home, 'log') }),
  });
}
