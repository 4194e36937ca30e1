/**
 * Joins standard input and output to a server's socket, for places where only a program's standard streams lead
 * inside. Many connections share the one stream as streams of HTTP/2, which has flow control.
 */
import { performServerHandshake } from 'node:http2';
import { connect } from 'node:net';
import { Duplex, pipeline } from 'node:stream';
import { tunnelWindowBytes } from '../../protocol/wire.js';

export function relay(socketPath: string): void {
  const streams = Duplex.from({ readable: process.stdin, writable: process.stdout });
  const session = performServerHandshake(streams, { settings: { initialWindowSize: tunnelWindowBytes } });
  session.setLocalWindowSize(tunnelWindowBytes);
  session.on('stream', (stream) => {
    const socket = connect(socketPath);
    const fail = () => stream.destroy();
    socket.once('error', fail);
    socket.once('connect', () => {
      stream.respond({ ':status': 200 });
      pipeline(stream, socket, stream, () => {});
    });
    stream.once('error', () => socket.destroy());
  });
  session.on('error', () => process.exit(1));
  session.once('close', () => process.exit(0));
}
