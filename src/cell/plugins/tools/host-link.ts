/** The connection to a tool host: its process, and the socket that it speaks on. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { basename, join } from 'node:path';
import { discardTree } from '../../../base/remove-tree.js';
import { WorkcellError } from '../../../protocol/index.js';
import type { LaunchedProcess } from '../../launchers/launcher.js';
import type { PluginCell } from '../plugin.js';
import { FrameReader, frame } from './host-frames.js';
import { type HostMessage, hostMessageSchema } from './host-messages.js';
import type { HostProgram } from './inside/host-programs.js';
import { captureBytes, frameLimitBytes, startLimitMs, streamBytes, unreadBytes } from './tool-limits.js';

export interface Link {
  send(message: unknown): void;
  /** Settles when the host ends, for whatever reason, and says how. */
  readonly lost: Promise<string>;
  /** Ends the host with everything that it started; settles when it has ended. */
  close(reason: string): Promise<void>;
}

/** Starts a host and waits until it has shown itself. */
export async function openLink(
  cell: PluginCell,
  program: HostProgram,
  receive: (message: HostMessage) => void,
): Promise<Link> {
  const { outside, inside } = cell.exchange;
  const directory = await mkdtemp(join(outside, 'host-'));
  const seen = `${inside}/${basename(directory)}`;
  const token = randomBytes(24).toString('base64url');
  const server = createServer();
  server.maxConnections = mostStrangers;
  const strangers = new Set<Socket>();
  let process: LaunchedProcess | undefined;
  try {
    await Promise.all([
      writeFile(join(directory, `host${program.extension}`), program.source(), { mode: 0o600 }),
      listen(server, join(directory, 'socket')),
    ]);
    const settings = JSON.stringify({ workspace: cell.workspace, captureBytes, streamBytes });
    process = await start(cell, program, [`${seen}/host${program.extension}`, `${seen}/socket`, settings]);
    process.stdin.on('error', () => {});
    process.stdin.end(token);
    const printed = [lastWords(process.stdout), lastWords(process.stderr)];
    const said = () => printed.map((words) => words()).join('');
    const socket = await admit({ server, strangers }, token, process, program, said);
    return link(cell, process, socket, said, receive);
  } catch (error) {
    if (process !== undefined) await cell.kill(process.pid);
    throw error;
  } finally {
    server.close();
    for (const stranger of strangers) stranger.destroy();
    await discardTree(directory);
  }
}

function link(
  cell: PluginCell,
  process: LaunchedProcess,
  { socket, reader }: Admitted,
  said: () => string,
  receive: (message: HostMessage) => void,
): Link {
  let reason: string | undefined;
  const read = (chunk: Buffer) => {
    try {
      for (const message of reader.read(chunk)) receive(hostMessageSchema.parse(message));
    } catch (error) {
      reason ??= `it said something that is no message: ${error instanceof Error ? error.message : String(error)}`;
      socket.destroy();
    }
  };
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const lost = Promise.race([closed, process.exited]).then(async () => {
    socket.destroy();
    await cell.kill(process.pid).catch(() => {});
    const { exitCode, signal } = await process.exited;
    const how = signal === null ? `it exited with code ${exitCode}` : `it was ended by ${signal}`;
    return reason ?? [how, said()].filter(Boolean).join('; it printed: ');
  });
  socket.on('error', () => {});
  socket.on('data', read);
  socket.resume();
  return {
    send(message) {
      socket.write(frame(message));
      if (socket.writableLength <= unreadBytes) return;
      reason ??= 'it did not read what it was sent';
      socket.destroy();
    },
    lost,
    async close(given) {
      reason ??= given;
      socket.destroy();
      await lost;
    },
  };
}

/** Other programs of the cell may connect while the host starts, too. */
const mostStrangers = 64;

interface Admitted {
  readonly socket: Socket;
  readonly reader: FrameReader;
}

/** Waits for the host itself: nothing else in the cell that connects knows the token. */
function admit(
  { server, strangers }: { server: Server; strangers: Set<Socket> },
  token: string,
  { exited }: LaunchedProcess,
  program: HostProgram,
  said: () => string,
): Promise<Admitted> {
  return new Promise((resolve, reject) => {
    const refuse = (reason: string) => {
      clearTimeout(timer);
      reject(
        new WorkcellError(
          'plugin-unavailable',
          `The program that runs ${program.language} tools did not start: ${reason}. ${program.hint}`,
          { details: { plugin: 'tools', language: program.language } },
        ),
      );
    };
    const timer = setTimeout(() => refuse(`it did not connect within ${startLimitMs} ms`), startLimitMs);
    void exited.then(({ exitCode, signal }) =>
      refuse([`it ended with ${signal ?? exitCode}`, said()].filter(Boolean).join('; it printed: ')),
    );
    server.on('connection', (socket) => {
      strangers.add(socket);
      socket.once('close', () => strangers.delete(socket));
      socket.on('error', () => {});
      const reader = new FrameReader(frameLimitBytes);
      socket.once('data', (chunk: Buffer) => {
        socket.pause();
        if (!isHello(reader, chunk, token)) {
          socket.destroy();
          return;
        }
        clearTimeout(timer);
        strangers.delete(socket);
        resolve({ socket, reader });
      });
    });
  });
}

/** The first message is small and comes in one piece, and nothing follows it before we answer. */
function isHello(reader: FrameReader, chunk: Buffer, token: string): boolean {
  try {
    const [message, ...others] = [...reader.read(chunk)];
    const hello = hostMessageSchema.parse(message);
    return hello.type === 'hello' && hello.token === token && others.length === 0;
  } catch {
    return false;
  }
}

async function start(
  cell: PluginCell,
  program: HostProgram,
  words: readonly string[],
): Promise<LaunchedProcess> {
  try {
    return await cell.spawn([...program.interpreter(cell), ...words]);
  } catch (cause) {
    if (!WorkcellError.isInstance(cause) || cause.code !== 'spawn-failed') throw cause;
    throw new WorkcellError(
      'plugin-unavailable',
      `The program that runs ${program.language} tools cannot start: ${cause.message} ${program.hint}`,
      { details: { plugin: 'tools', language: program.language }, cause },
    );
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
}

/** Drains a stream and remembers its end, which tells why a host died. */
function lastWords(stream: NodeJS.ReadableStream): () => string {
  const keptCharacters = 2000;
  let text = '';
  stream.on('error', () => {});
  stream.on('data', (chunk: Buffer) => {
    text = (text + chunk.toString('utf8')).slice(-keptCharacters);
  });
  return () => text.trim();
}
