/** The program of a local cell, started and waiting to be told what to serve. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { moduleWords, type ServerProcess, startProgram } from '../server-process.js';

/** In one file where it was built, which loads several times as fast. */
const program = fileURLToPath(new URL('../../cell/main', import.meta.url));

/** `home` is its own directory. */
export function startLocalServer(home: string, { keepAlive }: { keepAlive: boolean }): ServerProcess {
  return startProgram({
    who: 'The server',
    program: [...moduleWords(program, 'cjs'), 'cell'],
    directory: home,
    ...(keepAlive && { logFile: join(home, 'log') }),
  });
}
