import { closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs';
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { WorkcellError } from '../../protocol/index.js';

/** An open that refers to a place in the file system and does nothing more; Node does not name this Linux flag. */
const pathOnly = 0o10000000;

export function connectTo(address: NetConnectOpts): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(address);
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      // A program that breaks the connection must not end this process; the holder of the socket sees it close.
      socket.on('error', () => {});
      resolve(socket);
    });
  });
}

/**
 * Connects to a socket that a program made. On Linux, open it as what it is before connecting: a link in its place
 * would lead elsewhere, even out of a cell, and its path may be longer than a socket's address.
 */
export async function connectToSocket(path: string): Promise<Socket> {
  return connectOnce(path, () => {});
}

/** The same for a socket of this user: does not talk to one that another user put in its place. */
export async function connectToOwnSocket(path: string): Promise<Socket> {
  return connectOnce(path, ({ uid }) => {
    if (uid === process.geteuid?.()) return;
    throw new WorkcellError(
      'permission-denied',
      `The socket ${path} belongs to user ${uid}, so Workcell sends nothing to it. Remove it, or find out who made it.`,
      { details: { path, uid } },
    );
  });
}

async function connectOnce(path: string, check: (found: { uid: number }) => void): Promise<Socket> {
  if (process.platform !== 'linux') {
    check(lstatSync(path));
    return connectTo({ path });
  }
  const place = openSync(path, pathOnly | constants.O_NOFOLLOW);
  try {
    check(fstatSync(place));
    return await connectTo({ path: `/proc/self/fd/${place}` });
  } finally {
    closeSync(place);
  }
}
