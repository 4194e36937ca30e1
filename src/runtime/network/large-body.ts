/** The body of a large answer, carried past the parser of HTTP, which would copy each piece of it. */
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { takePieces } from './large-reads.js';
import { carrier } from './tie.js';

/** Where the new connection for the next request costs less than what is saved. */
const large = 2 ** 22;

/**
 * Takes the rest of a body, whose length the answer tells, from the connection itself. The parser never sees the end of
 * that body, so the connection carries no other answer.
 */
export function passLargeBody(
  outgoing: ClientRequest,
  answer: IncomingMessage,
  response: ServerResponse,
  { meter, onWhole }: { meter(bytes: number): number; onWhole(): void },
): void {
  const { socket } = answer;
  let left = knownLength(outgoing, answer);
  if (left < large) return;
  answer.on('data', (piece: Buffer) => {
    left -= piece.length;
  });
  const { write } = carrier(socket, response, meter);
  takePieces(socket, (piece, done) => {
    // The parser gives away what it has first, and pieces of an answer to an earlier request are for its own program.
    const isTurn = answer.readableLength === 0 && response.socket !== null && !response.destroyed;
    // A body that is still being sent ends with the connection.
    if (!isTurn || left === 0 || !outgoing.writableFinished || socket.readableLength > 0 || socket.isPaused())
      return false;
    // What the server sends beyond the length that it told belongs to nothing.
    const body = piece.length > left ? piece.subarray(0, left) : piece;
    left -= body.length;
    write(body, done);
    // A limit may have ended the connection, and the last piece with it.
    if (left > 0 || socket.destroyed) return true;
    onWhole();
    response.end();
    outgoing.destroy();
    return true;
  });
}

/** 0 where the end of the body is told in another way, or there is none. */
function knownLength({ method }: ClientRequest, { headers, statusCode = 0 }: IncomingMessage): number {
  const hasBody = method !== 'HEAD' && statusCode >= 200 && statusCode !== 204 && statusCode !== 304;
  if (!hasBody || headers['transfer-encoding'] !== undefined) return 0;
  return Number(headers['content-length'] ?? 0);
}
