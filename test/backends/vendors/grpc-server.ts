/** A server of gRPC on loopback, without TLS. A request with a field that its interface does not have is refused. */
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import protobuf from 'protobufjs';
import { Answer } from './stand-in.js';

export type Message = Record<string, unknown>;

export interface GrpcCall {
  /** `/<service>/<method>` */
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** One, but where the client streams. */
  readonly messages: Message[];
}

/** The statuses of gRPC, by those of HTTP. */
const codes: Readonly<Record<number, number>> = { 400: 3, 401: 16, 403: 7, 404: 5, 429: 8, 500: 13, 507: 10 };

type Serve = (call: GrpcCall) => Promise<Message | AsyncIterable<Message> | 'cut' | 'hang'>;

export class GrpcServer {
  readonly #interface: protobuf.Root;
  /** What answers had that their interface does not have. */
  readonly forbidden: string[] = [];
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #server = createServer();

  constructor(files: readonly string[], serve: Serve) {
    this.#interface = protobuf.loadSync([...files]);
    this.#server.on('session', (session: ServerHttp2Session) => {
      this.#sessions.add(session);
      session.on('close', () => this.#sessions.delete(session));
      session.on('error', () => {});
    });
    this.#server.on('stream', (stream: ServerHttp2Stream, headers) => {
      stream.on('error', () => {});
      this.#answer(stream, headers, serve).catch((error: unknown) => refuse(stream, error));
    });
  }

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  cut(): void {
    for (const session of this.#sessions) session.destroy();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  async #answer(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, serve: Serve): Promise<void> {
    const path = String(headers[':path']);
    const [, service = '', method = ''] = path.split('/');
    const known = this.#interface.lookup(service);
    const rpc = known instanceof protobuf.Service ? known.methods[method] : undefined;
    if (rpc === undefined) throw new Answer(400, { message: `There is no ${path} in the interface.` });
    rpc.resolve();
    const { resolvedRequestType, resolvedResponseType } = rpc;
    if (resolvedRequestType === null || resolvedResponseType === null) throw new Error(path);
    const messages = frames(await bytesOf(stream)).map((frame) => read(resolvedRequestType, frame));
    const answer = await serve({ path, method, headers, messages });
    if (answer === 'hang') return;
    if (answer === 'cut') return void stream.session?.destroy();
    stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    const answers = Symbol.asyncIterator in answer ? (answer as AsyncIterable<Message>) : [answer];
    for await (const one of answers) {
      this.forbidden.push(...strangeIn(resolvedResponseType, one));
      stream.write(framed(resolvedResponseType, one));
    }
    stream.end();
  }
}

/** What the interface does not know is lost in reading, so that the bytes tell. */
function read(type: protobuf.Type, bytes: Buffer): Message {
  const message = type.decode(bytes);
  if (type.encode(message).finish().length !== bytes.length)
    throw new Answer(400, { message: `${type.name} has a field that its interface does not have.` });
  return type.toObject(message, { enums: String, longs: Number, arrays: true });
}

/** Writing a message leaves out what its type does not have. */
function strangeIn(type: protobuf.Type, message: Message): string[] {
  return Object.entries(message).flatMap(([name, value]) => {
    const field = type.fields[name];
    if (field === undefined) return [`${type.name} has no ${name}`];
    const { resolvedType } = field.resolve();
    if (!(resolvedType instanceof protobuf.Type)) return [];
    const parts = (field.repeated ? value : [value]) as Message[];
    return parts.flatMap((part) => strangeIn(resolvedType, part));
  });
}

function framed(type: protobuf.Type, message: Message): Buffer {
  const bytes = type.encode(type.fromObject(message)).finish();
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

function frames(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 5 + bytes.readUInt32BE(at + 1);
    found.push(bytes.subarray(at + 5, end));
    at = end;
  }
  return found;
}

async function bytesOf(stream: ServerHttp2Stream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function refuse(stream: ServerHttp2Stream, error: unknown): void {
  if (stream.destroyed) return;
  const answer = error instanceof Answer ? error : new Answer(500, { message: String(error) });
  const { message = 'refused' } = answer.body as { message?: string };
  const status = {
    'grpc-status': String(codes[answer.status] ?? 2),
    'grpc-message': encodeURIComponent(message),
  };
  stream.respond(
    { ':status': 200, 'content-type': 'application/grpc+proto', ...status },
    { endStream: true },
  );
}
