/**
 * Many connections to a server's socket through one stream of bytes, as streams of HTTP/2, which has flow control.
 */
import { type IncomingHttpHeaders, performServerHandshake, type ServerHttp2Session } from 'node:http2';
import { connect } from 'node:net';
import { Duplex, pipeline } from 'node:stream';
import { tunnelWindowBytes } from '../../protocol/wire.js';

/** Joins standard input and output, for places where only a program's standard streams lead inside. */
export function relay(socketPath: string): void {
  const streams = Duplex.from({ readable: process.stdin, writable: process.stdout });
  const session = joinTunnel(streams, socketPath);
  session.on('error', () => process.exit(1));
  session.once('close', () => process.exit(0));
}

/** `admits` decides on each connection by what it says of itself. */
export function joinTunnel(
  streams: Duplex,
  socketPath: string,
  admits: (headers: IncomingHttpHeaders) => boolean = () => true,
): ServerHttp2Session {
  const session = performServerHandshake(streams, { settings: { initialWindowSize: tunnelWindowBytes } });
  session.setLocalWindowSize(tunnelWindowBytes);
  session.on('stream', (stream, headers) => {
    stream.once('error', () => {});
    if (!admits(headers)) {
      stream.respond({ ':status': 401 }, { endStream: true });
      return;
    }
    const socket = connect(socketPath);
    const fail = () => stream.destroy();
    socket.once('error', fail);
    socket.once('connect', () => {
      stream.respond({ ':status': 200 });
      pipeline(stream, socket, stream, () => {});
    });
    stream.once('error', () => socket.destroy());
  });
  return session;
}
