/** The connection to a keeper: one request for each connection, as a line of JSON, and answers in lines. */
import { once } from 'node:events';
import { renameSync, statSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { removeFile } from '../../../cell/launchers/scratch.js';
import { connectToOwnSocket } from '../../../cell/launchers/unix-sockets.js';

/** A request describes one cell. Cut off a client that sends more or takes long. */
const longestRequest = 4 * 1024 * 1024;
const requestMs = 10_000;

export interface LineServer {
  /** Takes no more requests; those in progress continue. */
  close(): void;
}

/**
 * Listens at a path whose directory only this user enters. The socket gets its name when it answers. So a socket of
 * that name that does not answer belongs to a dead process, and this replaces it.
 */
export async function listenForLines(
  path: string,
  onRequest: (request: unknown, socket: Socket) => void,
): Promise<LineServer> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => {});
    readLine(socket).then(
      (request) => onRequest(request, socket),
      () => socket.destroy(),
    );
  });
  const unnamed = `${path}.${process.pid}`;
  server.listen(unnamed);
  await once(server, 'listening');
  renameSync(unnamed, path);
  const { ino } = statSync(path);
  return {
    close() {
      server.close();
      // Another may have taken its place by now.
      if (statSync(path, { throwIfNoEntry: false })?.ino === ino) removeFile(path);
    },
  };
}

/** Sends a message; the other side may have left. */
export function sayLine(socket: Socket, message: object): void {
  socket.write(`${JSON.stringify(message)}\n`);
}

/** Further messages of a client whose request was read; undefined for what is none. Ends a connection with too long a line. */
export function eachLine(socket: Socket, take: (message: unknown) => void): void {
  let pending = '';
  socket.on('data', (text: string) => {
    const pieces = `${pending}${text}`.split('\n');
    pending = pieces.pop() ?? '';
    if (pending.length > longestRequest) socket.destroy();
    for (const line of pieces) take(parsed(line));
  });
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

export interface LineConnection {
  /** Says more, where the other side listens for it. */
  say(message: object): void;
  /** The answers one by one; undefined at the end. */
  next(): Promise<string | undefined>;
  close(): void;
  /** Lets this process end while it waits, and not. */
  unref(): void;
  ref(): void;
}

/** Sends a request. Fails with the code of the system call when nothing listens there. */
export async function sendLine(path: string, request: object): Promise<LineConnection> {
  const socket = await connectToOwnSocket(path);
  const waiting: ((line: string | undefined) => void)[] = [];
  const lines: string[] = [];
  let pending = '';
  let ended = false;
  socket.setEncoding('utf8').on('data', (text: string) => {
    const pieces = `${pending}${text}`.split('\n');
    pending = pieces.pop() ?? '';
    if (pending.length > longestRequest) socket.destroy();
    for (const line of pieces) {
      const taker = waiting.shift();
      if (taker === undefined) lines.push(line);
      else taker(line);
    }
  });
  socket.on('error', () => {});
  socket.once('close', () => {
    ended = true;
    for (const taker of waiting.splice(0)) taker(undefined);
  });
  sayLine(socket, request);
  return {
    async next() {
      const line = lines.shift();
      if (line !== undefined || ended) return line;
      return new Promise((resolve) => waiting.push(resolve));
    },
    close: () => socket.destroy(),
    unref: () => socket.unref(),
    ref: () => socket.ref(),
    say: (message) => sayLine(socket, message),
  };
}

/** Whether a process takes requests there. */
export async function isListening(path: string): Promise<boolean> {
  try {
    (await connectToOwnSocket(path)).destroy();
    return true;
  } catch {
    return false;
  }
}

function readLine(socket: Socket): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => reject(new Error('late')), requestMs);
    const settle = (settled: () => void) => {
      clearTimeout(timer);
      socket.off('data', onData);
      socket.off('close', onClose);
      // From here on watch the input only for its end.
      socket.resume();
      settled();
    };
    const onClose = () => settle(() => reject(new Error('gone')));
    const onData = (piece: string) => {
      text += piece;
      const end = text.indexOf('\n');
      if (end === -1 && text.length > longestRequest) settle(() => reject(new Error('too long')));
      if (end === -1) return;
      settle(() => {
        try {
          resolve(JSON.parse(text.slice(0, end)));
        } catch (error) {
          reject(error);
        }
      });
    };
    socket.setEncoding('utf8').on('data', onData);
    socket.once('close', onClose);
  });
}
