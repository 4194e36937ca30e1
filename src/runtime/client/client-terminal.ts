/** A live terminal over a WebSocket: binary frames are bytes, text frames are everything else. */
import { WebSocket } from 'ws';
import { ReaderQueue } from '../../base/reader-queue.js';
import { parseUntrustedJson } from '../../base/untrusted-json.js';
import { errorSchema, type Terminal, type TerminalOptions, WorkcellError } from '../../protocol/index.js';
import { type TerminalReply, type TerminalRequest, terminalReplySchema } from '../../protocol/wire.js';
import { toError } from './client-failures.js';
import { openSocket } from './client-socket.js';
import { deferred } from './deferred.js';
import type { Link } from './server-link.js';

const openMs = 30_000;
const longestFrame = 4 * 1024 * 1024;

type Exit = { exitCode: number | null; signal: string | null };

export async function openTerminal(link: Link, options: TerminalOptions): Promise<Terminal> {
  const { socket, failed } = await openSocket(link, '/v1/terminals', { maxPayload: longestFrame });
  const output = new ReaderQueue(socket);
  const send = (request: TerminalRequest) => socket.send(JSON.stringify(request), () => {});
  const exit = deferred<Exit>();
  const opened = deferred<string>();
  const fail = (error: unknown) => {
    opened.reject(error);
    output.end();
    // A lost terminal ended without an exit code.
    exit.resolve({ exitCode: null, signal: null });
  };
  const timer = setTimeout(() => {
    fail(new WorkcellError('timed-out', `The server did not open a terminal within ${openMs} ms.`));
    socket.terminate();
  }, openMs);

  socket.on('open', () => send({ type: 'open', ...options } as TerminalRequest));
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) return output.push(data);
    const reply = parseReply(data);
    if (reply.type === 'opened') opened.resolve(reply.id);
    else if (reply.type === 'exit') exit.resolve({ exitCode: reply.exitCode, signal: reply.signal });
    else
      fail(
        toError(errorSchema.catch({ code: 'internal', message: 'The terminal failed.' }).parse(reply.error)),
      );
  });
  failed.catch(fail);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));

  try {
    const id = await opened.promise;
    return {
      id,
      output,
      exited: exit.promise,
      write: (data) =>
        new Promise((taken) => {
          if (socket.readyState !== WebSocket.OPEN) taken();
          else socket.send(Buffer.from(data as string), { binary: true }, () => taken());
        }),
      resize(columns, rows) {
        if (socket.readyState === WebSocket.OPEN) send({ type: 'resize', columns, rows });
      },
      async close() {
        output.drop();
        if (socket.readyState === WebSocket.OPEN) send({ type: 'close' });
        const force = setTimeout(() => socket.terminate(), openMs);
        await closed;
        clearTimeout(force);
      },
    };
  } finally {
    clearTimeout(timer);
  }
}

function parseReply(data: Buffer): TerminalReply {
  try {
    return terminalReplySchema.parse(parseUntrustedJson(data));
  } catch {
    return {
      type: 'error',
      error: { code: 'internal', message: 'The server sent a frame that does not fit.' },
    };
  }
}
