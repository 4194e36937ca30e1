/** A process that writes what comes over one port into a file, and sends a file over another: a transfer without us. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

const program = `
  const { createReadStream, createWriteStream } = require('node:fs');
  const { createServer } = require('node:net');
  const file = process.argv[1];
  const up = createServer({ allowHalfOpen: true }, (socket) =>
    socket.pipe(createWriteStream(file)).on('finish', () => socket.end('.')));
  const down = createServer((socket) => createReadStream(file).pipe(socket));
  up.listen(0, '127.0.0.1', () => down.listen(0, '127.0.0.1', () =>
    console.log(JSON.stringify([up.address().port, down.address().port]))));`;

export interface FileSocket extends AsyncDisposable {
  /** Until the other side has written all of it. */
  up(path: string): Promise<void>;
  down(target: NodeJS.WritableStream): Promise<void>;
}

export async function startFileSocket(folder: string): Promise<FileSocket> {
  const child = spawn(process.execPath, ['-e', program, join(folder, 'other-side')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const [up, down] = JSON.parse(String(line)) as [number, number];
  return {
    async up(path) {
      const socket = connect({ port: up, host: '127.0.0.1', allowHalfOpen: true });
      const answered = once(socket, 'data');
      await pipeline(createReadStream(path), socket, { end: false });
      socket.end();
      await answered;
      socket.destroy();
    },
    down: (target) => pipeline(connect({ port: down, host: '127.0.0.1' }), target),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
