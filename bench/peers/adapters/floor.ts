/** What the operating system and Node cost without a peer: bubblewrap alone, a bash at a pipe, and files of this machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bareBubblewrap } from '../../floors.js';
import { startRawKernel } from '../../raw-kernel.js';
import { serve } from './adapter.js';

const end = '\u0004';

await serve({
  async open() {
    const folder = mkdtempSync(join(tmpdir(), 'bench-peer-'));
    await bareBubblewrap();
    const bash = spawn('bash', ['--norc'], { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] });
    let output = '';
    let heard = () => {};
    bash.stdout.setEncoding('utf8').on('data', (piece: string) => {
      output += piece;
      if (output.endsWith(end)) heard();
    });
    let kernel: Awaited<ReturnType<typeof startRawKernel>> | undefined;
    return {
      run(command) {
        output = '';
        return new Promise((resolve) => {
          heard = () => resolve(output.slice(0, -end.length));
          bash.stdin.write(`${command}; printf '\\4'\n`);
        });
      },
      write: (path, content) => writeFile(join(folder, path), content),
      read: (path) => readFile(join(folder, path), 'utf8'),
      async code(source) {
        kernel ??= await startRawKernel();
        await kernel.run(source);
        // The kernel has answered; this client does not look at what.
        return '2';
      },
      async close() {
        kernel?.close();
        bash.kill('SIGKILL');
        await once(bash, 'exit');
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
});
