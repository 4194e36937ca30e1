/** Files as plain HTTP: downloads, and uploads as forms or as they are. */
import { posix } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { defaultHttpLimits } from '../../../base/http/http-options.js';
import { incomingBytes } from '../../../base/http/incoming.js';
import { parseRange } from '../../../base/http/range.js';
import { webTypeOf } from '../../../base/media-types.js';
import { WorkcellError } from '../../../protocol/index.js';
import { readForm } from '../../form.js';
import { E2bError, RpcError } from '../e2b-errors.js';
import type { OpenSandbox } from '../e2b-sandboxes.js';
import type { FileOperation, FileQuery } from '../sandbox-access.js';
import { checkUser } from './envd-user.js';
import { insidePath } from './inside-path.js';

const querySchema = z.object({
  path: z.string().max(4096).default(''),
  username: z.string().optional(),
  signature: z.string().max(256).optional(),
  signature_expiration: z.string().max(32).optional(),
});

/** Opens the sandbox that a request is for, which a signed address does not name, for who may do this there. */
export type FileSandbox = (
  request: FastifyRequest,
  reply: FastifyReply,
  query: FileQuery,
  operation: FileOperation,
) => Promise<OpenSandbox>;

export function fileRoutes(app: FastifyInstance, open: FileSandbox, options: object): void {
  const enter = async (request: FastifyRequest, reply: FastifyReply, operation: FileOperation) => {
    const { data: query } = querySchema.safeParse(request.query);
    if (query === undefined) throw new E2bError(400, 'The query is not valid.');
    const sandbox = await open(request, reply, query, operation);
    if (query.username !== undefined && query.username !== '') checkUser(query.username);
    return { sandbox, query };
  };

  app.get('/files', options, async (request, reply) => {
    const { sandbox, query } = await enter(request, reply, 'read');
    return download(request, reply, sandbox, query.path);
  });

  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    scope.post('/files', { ...options, config: { streams: true } }, async (request, reply) => {
      const { sandbox, query } = await enter(request, reply, 'write');
      return upload(request, sandbox, query.path);
    });
  });
}

async function download(
  request: FastifyRequest,
  reply: FastifyReply,
  sandbox: OpenSandbox,
  asked: string,
): Promise<FastifyReply> {
  const path = insidePath(asked, sandbox.home);
  const explained = (error: unknown) => {
    throw fileFailure(error, path);
  };
  const asks = request.headers.range !== undefined;
  // Only one of the two: a download that nobody reads stays open.
  const { sizeBytes: size } = asks
    ? await sandbox.executor.execute<'stat'>({ action: 'stat', path }).catch(explained)
    : { sizeBytes: 0 };
  const range = asks ? parseRange(request.headers.range as string, size) : 'whole';
  void reply
    .type(webTypeOf(path) ?? 'application/octet-stream')
    .header('content-disposition', `inline; filename=${quoted(posix.basename(path))}`)
    // A signed address opens in a browser, at the address of this service: what a cell wrote may not act as its page.
    .header('content-security-policy', "sandbox; default-src 'none'")
    .header('x-content-type-options', 'nosniff')
    .header('accept-ranges', 'bytes')
    .header('vary', 'Accept-Encoding');
  if (range === 'none') return reply.code(416).header('content-range', `bytes */${size}`).send();
  if (range !== 'whole') {
    const { content } = await sandbox.executor.download(path, range).catch(explained);
    void reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${size}`);
    void reply.header('content-length', range.end - range.start + 1);
    return reply.send(Readable.from(content, { objectMode: false }));
  }
  // Files of the kernel say that they are empty and are not.
  const whole = await sandbox.executor.download(path).catch(explained);
  if (whole.sizeBytes !== undefined && !path.startsWith('/proc/'))
    void reply.header('content-length', whole.sizeBytes);
  return reply.send(Readable.from(whole.content, { objectMode: false }));
}

async function upload(request: FastifyRequest, sandbox: OpenSandbox, asked: string): Promise<object[]> {
  const metadata = metadataIn(request);
  const bytes = incomingBytes(request.raw, defaultHttpLimits.requestMs);
  const isForm = /^multipart\/form-data/i.test(request.headers['content-type'] ?? '');
  const write = async (path: string, content: AsyncIterable<Uint8Array>) => {
    const inside = insidePath(path, sandbox.home);
    await sandbox.executor.upload(inside, content).catch((error: unknown) => {
      throw fileFailure(error, inside);
    });
    sandbox.state.metadata.set(inside, metadata);
    const kept = sandbox.state.metadata.get(inside);
    return {
      name: posix.basename(inside),
      path: inside,
      type: 'file',
      ...(kept !== undefined && { metadata: kept }),
    };
  };
  if (!isForm) {
    if (asked === '') throw new E2bError(400, 'The query needs a path.');
    const { 'content-encoding': encoding = 'identity' } = request.headers;
    if (!['identity', 'gzip'].includes(encoding))
      throw new E2bError(400, `unsupported content encoding: ${encoding}`);
    let damage: string | undefined;
    const content = unpacked(bytes, encoding, (reason) => {
      damage = reason;
    });
    return [
      await write(asked, content).catch((error: unknown) => {
        throw damage === undefined ? error : new E2bError(400, `The body is not gzip: ${damage}.`);
      }),
    ];
  }
  const written: object[] = [];
  const paths = new Set<string>();
  const form = readForm(bytes, request.headers['content-type'], (reason) => new E2bError(400, reason));
  for await (const { name, filename, content } of form) {
    if (name !== 'file') continue;
    const path = asked === '' ? (filename ?? '') : asked;
    if (path === '') throw new E2bError(400, 'A part has no file name, and the query no path.');
    if (paths.has(path))
      throw new E2bError(400, `you cannot upload multiple files to the same path '${path}'`);
    paths.add(path);
    written.push(await write(path, content));
  }
  return written;
}

/**
 * Begins when somebody reads: an upload that is refused before has nothing to fail. The executor makes one error of all
 * that fails while it reads, so `onDamaged` tells this one.
 */
async function* unpacked(
  bytes: AsyncIterable<Uint8Array>,
  encoding: string,
  onDamaged: (reason: string) => void,
): AsyncGenerator<Uint8Array> {
  if (encoding === 'identity') return yield* bytes;
  const gunzip = createGunzip().once('error', ({ message }) => onDamaged(message));
  yield* pipeline(Readable.from(bytes), gunzip, () => {}) as AsyncIterable<Uint8Array>;
}

const prefix = 'x-metadata-';
const longestKey = 246;
const largestMetadata = 4096;

function metadataIn({ headers }: FastifyRequest): Record<string, string> {
  const pairs = Object.entries(headers)
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, value]) => [name.slice(prefix.length), String(value)] as const);
  const size = pairs.reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  const fits = pairs.every(
    ([key, value]) => key.length > 0 && key.length <= longestKey && /^[\x20-\x7e]*$/.test(key + value),
  );
  if (!fits || size > largestMetadata)
    throw new E2bError(400, 'The metadata is too large, or not printable ASCII.');
  return Object.fromEntries(pairs);
}

function fileFailure(error: unknown, path: string): unknown {
  if (error instanceof RpcError) return new E2bError(400, error.message);
  if (!WorkcellError.isInstance(error)) return error;
  if (error.code === 'not-found') return new E2bError(404, `path '${path}' does not exist`);
  if (error.code === 'not-a-file') return new E2bError(400, `path '${path}' is a directory`);
  return error;
}

function quoted(name: string): string {
  return /^[\w.-]+$/.test(name) ? name : `"${encodeURIComponent(name)}"`;
}
