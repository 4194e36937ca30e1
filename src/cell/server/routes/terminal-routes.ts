import type { FastifyInstance } from 'fastify';
import type { RawData, WebSocket } from 'ws';
import { toWorkcellError } from '../../../base/http/http-errors.js';
import { parse } from '../../../base/http/parse-request.js';
import { watchPeer } from '../../../base/http/upgrades.js';
import { parseJson } from '../../../base/json.js';
import { type Terminal, WorkcellError } from '../../../protocol/index.js';
import { type TerminalReply, type TerminalRequest, terminalRequestSchema } from '../../../protocol/wire.js';
import type { ContextOf, ServerContext } from '../server-context.js';
import { clientOf } from './action-routes.js';

/** Most bytes to type ahead of a program that does not read. */
const mostUntaken = 256 * 1024;

/** The terminal lives as long as its socket: what runs on it ends with the connection. */
export function terminalRoutes(app: FastifyInstance, contextOf: ContextOf): void {
  app.get('/v1/terminals', { websocket: true }, (socket, request) => {
    const context = contextOf(request);
    context.counters.terminals++;
    const session = new TerminalSession(socket, context);
    const left = context.clients.begin(clientOf(request), () => {
      socket.close(1001);
      return session.end();
    });
    socket.on('message', (data, isBinary) => session.receive(data, isBinary));
    socket.on('close', () => {
      context.counters.terminals--;
      left();
      void session.end();
    });
  });
}

class TerminalSession {
  readonly #socket: WebSocket;
  readonly #context: ServerContext;
  #opening: Promise<Terminal> | undefined;
  #terminal: Terminal | undefined;
  /** How much typed text the terminal has not taken. */
  #untaken = 0;

  constructor(socket: WebSocket, context: ServerContext) {
    this.#socket = socket;
    this.#context = context;
    watchPeer(socket);
  }

  receive(data: RawData, isBinary: boolean): void {
    try {
      if (isBinary) this.#use((terminal) => this.#type(terminal, data as Buffer));
      else this.#obey(parse(terminalRequestSchema, readFrame(data)));
    } catch (error) {
      this.#fail(error);
    }
  }

  async end(): Promise<void> {
    try {
      await (await this.#opening)?.close();
    } catch {
      // A terminal that failed to open has nothing to close.
    }
  }

  #obey(request: TerminalRequest): void {
    if (request.type === 'close') this.#socket.close(1000);
    else if (request.type === 'resize')
      this.#use((terminal) => terminal.resize(request.columns, request.rows));
    else if (this.#opening === undefined) {
      const { type: _type, ...options } = request;
      this.#opening = this.#context.executor().openTerminal(options);
      // Data that came with the request waits for the terminal; the rest of it stays on the wire until then.
      this.#socket.pause();
      const opened = () => this.#socket.resume();
      this.#opening.then(opened, opened);
      this.#opening.then((terminal) => this.#serve(terminal)).catch((error: unknown) => this.#fail(error));
    }
  }

  /** Keeps the order of the frames, also while the terminal opens. */
  #use(work: (terminal: Terminal) => void): void {
    if (this.#opening === undefined)
      throw new WorkcellError('invalid-action', 'A terminal socket begins with {"type":"open"}.');
    if (this.#terminal !== undefined) work(this.#terminal);
    // The code that opens a terminal reports its failure.
    else this.#opening.then(work).catch(() => {});
  }

  /** A program that does not read holds the client back. */
  #type(terminal: Terminal, data: Buffer): void {
    this.#untaken += data.length;
    if (this.#untaken > mostUntaken) this.#socket.pause();
    void terminal.write(data).then(() => {
      this.#untaken -= data.length;
      if (this.#socket.isPaused && this.#untaken <= mostUntaken) this.#socket.resume();
    });
  }

  async #serve(terminal: Terminal): Promise<void> {
    this.#terminal = terminal;
    this.#tell({ type: 'opened', id: terminal.id });
    // Take the next piece after sending the last one, so that a slow reader slows the program down.
    for await (const chunk of terminal.output) await this.#send(chunk);
    this.#tell({ type: 'exit', ...(await terminal.exited) });
    this.#socket.close(1000);
  }

  #send(data: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.send(data, { binary: true }, (error) => (error ? reject(error) : resolve()));
    });
  }

  #tell(reply: TerminalReply): void {
    this.#socket.send(JSON.stringify(reply), () => {});
  }

  #fail(thrown: unknown): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#tell({ type: 'error', error: toWorkcellError(thrown, this.#context.log).toJSON() });
    this.#socket.close(1011);
  }
}

function readFrame(data: RawData): unknown {
  try {
    return parseJson(String(data));
  } catch (cause) {
    throw new WorkcellError('invalid-action', 'A text frame on a terminal must be JSON.', { cause });
  }
}
