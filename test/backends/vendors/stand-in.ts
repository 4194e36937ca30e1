/**
 * What the stand-ins of vendors have in common: sandboxes that really run what they are asked (cells of backend `sandbox`)
 * and faults on request; for those that speak HTTP, a server on loopback with ports that are reached with a token.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createRuntime, type Runtime } from '../../../src/index.js';
import type { Spec } from './specs/spec-check.js';

export interface StandInSandbox {
  readonly id: string;
  readonly runtime: Runtime;
  readonly labels: Record<string, string>;
  readonly token: string;
  readonly createdAt: number;
  /** Of the vendor's own words. */
  state: string;
  /** How often somebody has asked for it. */
  asked: number;
}

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly request: IncomingMessage;
  body(): Promise<Buffer>;
  json(): Promise<unknown>;
}

/** What a vendor answers: a status and JSON. */
export class Answer {
  constructor(
    readonly status: number,
    readonly body: unknown = {},
    readonly headers: Record<string, string> = {},
  ) {}
}

/** Given instead of an answer, or undefined. `hang`: there is never one. */
export type Fault = (call: Pick<Call, 'method' | 'path'>) => Answer | 'cut' | 'hang' | undefined;

/** The first one is asked before anything else is done, until it has spoken once. */
export class Faults {
  readonly #waiting: Fault[] = [];
  /** How many calls there were, to the vendor itself and through it. */
  calls = 0;

  add(fault: Fault): void {
    this.#waiting.push(fault);
  }

  take(call: Parameters<Fault>[0]): ReturnType<Fault> {
    this.calls++;
    const fault = this.#waiting[0]?.(call);
    if (fault !== undefined) this.#waiting.shift();
    return fault;
  }

  /** Those that did not speak; they never will. */
  clear(): Fault[] {
    return this.#waiting.splice(0);
  }
}

/** What tests of a backend need of what stands in for its vendor. */
export interface Cloud {
  readonly key: string;
  readonly faults: Faults;
  /** What a request or an answer had that the vendor's specification forbids. */
  readonly forbidden: string[];
  /** Breaks all connections to sandboxes and to the vendor. */
  cut(): void;
  /** The ids of sandboxes that did not end. */
  left(): Promise<string[]>;
  end(id: string): Promise<void>;
}

export abstract class StandInCloud implements Cloud {
  readonly sandboxes = new Map<string, StandInSandbox>();
  readonly faults = new Faults();
  readonly #forbidden: string[] = [];
  abstract readonly key: string;
  url = '';

  get forbidden(): string[] {
    return this.#forbidden;
  }

  abstract cut(): void;

  async left(): Promise<string[]> {
    return [...this.sandboxes.keys()];
  }

  protected async make(labels: Record<string, string>, state: string): Promise<StandInSandbox> {
    const runtime = await createRuntime({ backend: 'sandbox', config: false });
    const id = randomBytes(8).toString('hex');
    const token = randomBytes(8).toString('hex');
    const sandbox = { id, runtime, labels, token, state, createdAt: Date.now(), asked: 0 };
    this.sandboxes.set(id, sandbox);
    return sandbox;
  }

  async end(id: string): Promise<void> {
    const sandbox = this.sandboxes.get(id);
    this.sandboxes.delete(id);
    await sandbox?.runtime.close();
  }

  protected async endAll(): Promise<void> {
    for (const id of [...this.sandboxes.keys()]) await this.end(id);
  }

  protected async run({ runtime }: StandInSandbox, argv: string[]) {
    const started = await runtime.execute({ action: 'start_process', argv });
    const { exitCode, stdout, stderr } = await runtime.execute({ action: 'wait_process', id: started.id });
    return { exitCode: exitCode ?? -1, stdout, stderr };
  }

  protected async upload({ runtime }: StandInSandbox, path: string, content: Uint8Array): Promise<void> {
    const pieces = async function* () {
      yield content;
    };
    await runtime.upload(path, pieces());
  }
}

export abstract class StandIn extends StandInCloud {
  /** The header that opens a port. */
  protected abstract readonly portHeader: string;
  protected abstract portToken(sandbox: StandInSandbox): string;
  protected abstract answer(call: Call): Promise<Answer>;
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #sockets = new Set<Socket>();

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async start(): Promise<this> {
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#server.on(
      'upgrade',
      (request, socket, head) => void this.#upgrade(request, socket as Socket, head),
    );
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  async close(): Promise<void> {
    await this.endAll();
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** `path`: as the specification has it. */
  protected async held(spec: Spec, path: string, call: Call, reply: () => Promise<Answer>): Promise<Answer> {
    const operation = spec.operationOf(call.method, path);
    if (operation === undefined) return reply();
    const body = spec.takesJson(operation) ? await call.json() : undefined;
    const asked = spec.problemOfRequest(operation, call.query.keys(), body);
    if (asked !== undefined) {
      this.forbidden.push(asked);
      return new Answer(400, { message: asked });
    }
    const answer = await reply();
    const told = spec.problemOfAnswer(operation, answer.status, answer.body);
    if (told !== undefined) this.forbidden.push(told);
    return answer;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = callOf(request);
    try {
      const fault = this.faults.take(call);
      if (fault === 'hang') return;
      if (fault === 'cut') return void request.socket.destroy();
      const port = await this.#port(call);
      if (port instanceof Answer || port === undefined)
        return send(response, fault ?? port ?? (await this.answer(call)));
      const headers = { ...request.headers, connection: 'close' };
      const inside = httpRequest({
        method: call.method,
        path: port.path,
        headers,
        createConnection: () => port.stream as Socket,
      });
      inside.on('response', (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      inside.on('error', () => response.destroy());
      response.on('close', () => port.stream.destroy());
      request.pipe(inside);
    } catch (error) {
      send(response, error instanceof Answer ? error : new Answer(500, { message: String(error) }));
    }
  }

  async #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const port = await this.#port(callOf(request)).catch(() => undefined);
    if (port === undefined || port instanceof Answer)
      return void socket.end('HTTP/1.1 404 Not Found\r\n\r\n');
    const lines = request.rawHeaders.flatMap((name, index, all) =>
      index % 2 === 0 ? [`${name}: ${all[index + 1]}`] : [],
    );
    port.stream.write(`${request.method} ${port.path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    port.stream.write(head);
    socket.pipe(port.stream).pipe(socket);
    for (const one of [socket, port.stream])
      one.on('error', () => {}).on('close', () => [socket, port.stream].map((s) => s.destroy()));
  }

  /** `/port/<id>/<port>/…`: what stands for the host names that a vendor gives ports. */
  async #port({
    path,
    headers,
    request,
  }: Call): Promise<{ stream: Duplex; path: string } | Answer | undefined> {
    const [, id = '', port, rest = '/'] = /^\/port\/([^/]+)\/(\d+)(\/.*)?$/.exec(path) ?? [];
    if (port === undefined) return undefined;
    const sandbox = [...this.sandboxes.values()].find((one) => one.id === id);
    if (sandbox === undefined) return new Answer(404, { message: 'no such sandbox' });
    if (headers[this.portHeader] !== this.portToken(sandbox))
      return new Answer(401, { message: 'wrong port token' });
    const { search } = new URL(request.url ?? '/', 'http://x');
    return { stream: (await sandbox.runtime.connect(Number(port))) as Duplex, path: `${rest}${search}` };
  }
}

export async function gathered(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const piece of pieces) chunks.push(piece);
  return Buffer.concat(chunks);
}

function callOf(request: IncomingMessage): Call {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x');
  const body = async () => await gathered(request);
  let read: Promise<unknown> | undefined;
  return {
    method: request.method ?? 'GET',
    path: pathname,
    query: searchParams,
    headers: request.headers,
    request,
    body,
    json() {
      read ??= body().then((bytes) => JSON.parse(bytes.toString() || '{}') as unknown);
      return read;
    },
  };
}

export function send(response: ServerResponse, { status, body, headers }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(status === 204 ? undefined : JSON.stringify(body));
}
