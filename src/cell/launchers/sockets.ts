import { closeSync, constants, openSync } from 'node:fs';
import { connect, type NetConnectOpts, type Socket } from 'node:net';

/** An open that gives a place in the file system and nothing more; Node does not name this Linux flag. */
const pathOnly = 0o10000000;

export function connectTo(address: NetConnectOpts): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(address);
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}

/**
 * Connects to a socket that a program made. On Linux it is opened as what it is before anything connects to it: a link
 * in its place would lead elsewhere, even out of a cell, and its path may be longer than a socket's address.
 */
export async function connectToSocket(path: string): Promise<Socket> {
  if (process.platform !== 'linux') return connectTo({ path });
  const place = openSync(path, pathOnly | constants.O_NOFOLLOW);
  try {
    return await connectTo({ path: `/proc/self/fd/${place}` });
  } finally {
    closeSync(place);
  }
}
