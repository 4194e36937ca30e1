/**
 * Sockets in the network namespace of a cell, which this process holds. They need no process of the cell, and close
 * when this process ends.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { createServer, type Server, type Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { findHostProgram } from '../../../../base/find-program.js';
import { programText } from '../../../../base/program-text.js';
import { WorkcellError } from '../../../../protocol/index.js';
import { withHiddenDescriptors } from '../../inheritance.js';

/** `tcp,*,443`: the kind, the address or `*` for all, the port. `all,*,0`: TCP on every port, but on the loopback. */
export type SocketName = `${'tcp' | 'udp' | 'all'},${string},${number}`;

/** A socket as Node passes it between processes; `listen` and `bind` take it. */
type Handle = object;

export interface CellSocket {
  readonly handle: Handle;
  /** Of its addresses. */
  readonly version: 4 | 6;
}

interface Request {
  readonly sockets: Map<string, CellSocket>;
  resolve(sockets: Map<string, CellSocket>): void;
  reject(error: Error): void;
}

/** Opens them in the namespaces of a process, or in a network namespace by its path. `isNew`: nothing was set up there yet. */
export async function openInside(
  inside: number | string,
  names: readonly SocketName[],
  isNew: boolean,
): Promise<Map<string, CellSocket>> {
  helper ??= startHelper();
  const { child, requests } = helper;
  const id = ++count;
  return new Promise((resolve, reject) => {
    requests.set(id, { sockets: new Map(), resolve, reject });
    child.channel?.ref();
    (child.stdin as Writable).write(`${[id, inside, isNew ? 1 : 0, ...names].join(' ')}\n`);
  });
}

export function serveTcp({ handle }: CellSocket, onConnection: (socket: Socket) => void): Server {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, onConnection);
  server.on('error', () => {});
  // The cell keeps this process alive; its listeners do not.
  return server.listen(handle).unref();
}

export function serveUdp(
  { handle, version }: CellSocket,
  onMessage: (message: Buffer, reply: (bytes: Buffer) => void) => void,
): UdpSocket {
  const socket = createSocket(version === 6 ? 'udp6' : 'udp4');
  socket.on('error', () => {});
  socket.on('message', (message, { address, port }) =>
    onMessage(message, (bytes) => socket.send(bytes, port, address, () => {})),
  );
  socket.bind(handle as { fd?: number });
  return socket.unref();
}

/** Why cells on this machine cannot have rules; undefined when they can. */
function whyNoSockets(): string | undefined {
  if (systemCalls[process.arch] === undefined)
    return `Network rules work on x64 and arm64 machines, and this one is ${process.arch}.`;
  return findHostProgram('perl') === undefined
    ? 'Network rules need the program "perl" on this machine; install it (Debian: apt install perl-base).'
    : undefined;
}

const systemCalls: Readonly<Record<string, readonly [setns: number, sendmsg: number]>> = {
  x64: [308, 46],
  arm64: [268, 211],
};

interface Helper {
  readonly child: ChildProcess;
  readonly requests: Map<number, Request>;
}

let helper: Helper | undefined;
let count = 0;

/** One for all cells of this process. */
function startHelper(): Helper {
  const obstacle = whyNoSockets();
  if (obstacle !== undefined) throw new WorkcellError('backend-unavailable', obstacle);
  const source = programText('cell-sockets.pl', import.meta.url);
  const numbers = systemCalls[process.arch] ?? [];
  const [input, output, errors, ...others] = withHiddenDescriptors(['pipe', 'ignore', 'ignore']);
  const child = spawn(findHostProgram('perl') as string, ['-e', source, ...numbers.map(String)], {
    cwd: '/',
    env: {},
    detached: true,
    // The channel has to be the first one behind the standard streams.
    stdio: [input, output, errors, 'ipc', ...others.slice(1)] as ['pipe', 'ignore', 'ignore', 'ipc'],
  });
  const started: Helper = { child, requests: new Map() };
  const end = (cause?: Error) => {
    if (helper === started) helper = undefined;
    const message = 'The program that opens sockets in cells has ended.';
    for (const { reject } of started.requests.values())
      reject(new WorkcellError('backend-unavailable', message, { cause }));
    started.requests.clear();
  };
  child.once('error', end);
  child.once('exit', () => end());
  child.on('message', (message, handle) => receive(started, message as Report, handle as Handle | undefined));
  (child.stdin as Writable).on('error', () => {});
  (child.stdin as unknown as Socket).unref();
  child.unref();
  child.channel?.unref();
  return started;
}

interface Report {
  readonly id: number;
  readonly socket?: string;
  readonly version?: 4 | 6;
  readonly done?: true;
  readonly failed?: string;
}

function receive(
  { child, requests }: Helper,
  { id, socket, version = 4, done, failed }: Report,
  handle: Handle | undefined,
): void {
  const request = requests.get(id);
  if (request === undefined) return;
  if (socket !== undefined && handle !== undefined) request.sockets.set(socket, { handle, version });
  if (done === undefined && failed === undefined) return;
  requests.delete(id);
  if (requests.size === 0) child.channel?.unref();
  if (done) {
    request.resolve(request.sockets);
    return;
  }
  for (const opened of request.sockets.values()) (opened.handle as { close?(): void }).close?.();
  request.reject(
    new WorkcellError('backend-unavailable', `No socket could be opened in the cell: ${failed?.trim()}.`, {
      details: { complaint: failed },
    }),
  );
}
