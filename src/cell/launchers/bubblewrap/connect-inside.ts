/** Reaches a server that listens inside a cell. */
import { basename, dirname, join } from 'node:path';
import { Duplex } from 'node:stream';
import type { LaunchedProcess, Launcher } from '../launcher.js';
import { connectToSocket } from '../unix-sockets.js';
import { cellEnvironment } from './layout.js';

/** Reports with one byte that the connection stands, then carries bytes both ways until the server closes it. */
const carry = 'exec 3<>"/dev/tcp/$0/$1" || exit 1; printf +; cat <&0 >&3 & cat <&3; kill $!';

/** A connection that starts in the cell's network, carried by a process in the cell. */
export async function connectTo(
  launcher: Pick<Launcher, 'spawn' | 'signal' | 'processes'>,
  host: string,
  port: number,
): Promise<Duplex> {
  const argv = ['bash', '-c', carry, host, String(port)];
  const carrier = await launcher.spawn(argv, { cwd: '/', env: cellEnvironment });
  const { stdin, stdout, stderr, exited } = carrier;
  stderr.resume();
  const first = await new Promise<Buffer | undefined>((resolve) => {
    stdout.once('data', (chunk: Buffer) => {
      stdout.pause();
      resolve(chunk);
    });
    void exited.then(() => resolve(undefined));
  });
  if (first === undefined) {
    for (const stream of [stdin, stdout, stderr]) stream.destroy();
    const message =
      host === '127.0.0.1'
        ? `Nothing listens on port ${port} in the cell. Start the server first, on 127.0.0.1 or on all addresses.`
        : `Nothing answers at ${host}:${port} from inside the cell, whose network may not reach it.`;
    throw Object.assign(new Error(message), { code: 'ECONNREFUSED' });
  }
  if (first.length > 1) stdout.unshift(first.subarray(1));
  return toDuplex(carrier, () => {
    const { pid } = carrier;
    const own = launcher.processes().filter((entry) => entry.pid === pid || entry.groupId === pid);
    launcher.signal(
      own.map((entry) => entry.pid),
      'SIGKILL',
    );
  });
}

/** A connection to a socket that a process inside has made. */
export async function connectInside(sockets: Launcher['sockets'], path: string): Promise<Duplex> {
  if (dirname(path) !== sockets.inside)
    throw new Error(`A socket of a cell is in ${sockets.inside}, not at ${path}.`);
  return connectToSocket(join(sockets.outside, basename(path)));
}

function toDuplex({ stdin, stdout, stderr }: LaunchedProcess, stop: () => void): Duplex {
  const duplex = new Duplex({
    read: () => void stdout.resume(),
    write: (chunk, encoding, callback) => void stdin.write(chunk, encoding, () => callback()),
    final(callback) {
      stdin.end();
      callback();
    },
    destroy(error, callback) {
      stop();
      for (const stream of [stdin, stdout, stderr]) stream.destroy();
      callback(error);
    },
  });
  stdout.on('data', (chunk: Buffer) => {
    if (!duplex.push(chunk)) stdout.pause();
  });
  stdout.once('close', () => duplex.push(null));
  return duplex;
}
