/**
 * Answers pings, and passes them on. By itself `ws` answers each one, and keeps what a peer does not read: a peer that
 * sends pings and reads nothing takes memory without end. Open each socket with `autoPong: false`.
 */
import type { WebSocket } from 'ws';

/** Answers the newest ping when the answer before it has left. The protocol allows leaving out those in between. */
export function answerPings(socket: WebSocket): void {
  newestOnly(socket, (data, done) => {
    if (socket.readyState === socket.OPEN) socket.pong(data, undefined, done);
  });
}

/** The same, for another peer to answer. */
export function passPings(from: WebSocket, to: WebSocket): void {
  newestOnly(from, (data, done) => {
    if (to.readyState === to.OPEN) to.ping(data, undefined, done);
    else done();
  });
}

/** `send` calls `done` when the system has taken the data. */
function newestOnly(from: WebSocket, send: (data: Buffer, done: () => void) => void): void {
  let newest: Buffer | undefined;
  let isSending = false;
  const next = () => {
    const data = newest;
    newest = undefined;
    isSending = data !== undefined;
    if (data !== undefined) send(data, next);
  };
  from.on('ping', (data) => {
    newest = data;
    if (!isSending) next();
  });
}
