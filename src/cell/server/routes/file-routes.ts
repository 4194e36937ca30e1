import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { errorBody } from '../../../base/http/http-errors.js';
import { incomingBytes } from '../../../base/http/incoming.js';
import { Outgoing } from '../../../base/http/outgoing.js';
import { parse } from '../../../base/http/parse-request.js';
import { parseRange } from '../../../base/http/range.js';
import { pathSchema } from '../../../protocol/actions/common.js';
import { type Downloaded, type DownloadOptions, WorkcellError } from '../../../protocol/index.js';
import type { ContextOf } from '../server-context.js';

const place = { path: pathSchema, format: z.enum(['tar', 'zip']).optional() };
const offset = z.coerce.number().int().nonnegative().optional();

/** Permission bits in octal, as in `mode=755`. */
const mode = z
  .string()
  .regex(/^0?[0-7]{1,3}$/, 'must be permission bits in octal, such as 755')
  .transform((text) => Number.parseInt(text, 8))
  .optional();

const uploadQuery = z.strictObject({ ...place, mode });
const downloadQuery = z.strictObject({ ...place, start: offset, end: offset });

export function fileRoutes(app: FastifyInstance, contextOf: ContextOf): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));

    scope.put('/v1/files', { config: { streams: true } }, async (request) => {
      const { path, ...options } = parse(uploadQuery, request.query);
      const { limits, executor } = contextOf(request);
      const content = incomingBytes(request.raw, limits.requestMs);
      return executor().upload(path, content, options);
    });
  });

  app.get('/v1/files', async (request, reply) => {
    const { path, ...asked } = parse(downloadQuery, request.query);
    const executor = contextOf(request).executor();
    const { options, range } = await resolveRange(request, asked, async () => executor.download(path));
    if (options === undefined) return refuseRange(reply, range.size);
    const { mediaType, sizeBytes, version, content } = await executor.download(path, options);
    checkVersion(request.headers['if-match'], version, path);
    reply.hijack();
    reply.raw.writeHead(range.header === undefined ? 200 : 206, {
      ...(reply.getHeaders() as Record<string, string>),
      ...fileHeaders(mediaType, sizeBytes, options, range.header),
      ...(version !== undefined && { etag: tagOf(version) }),
    });
    if (request.method === 'HEAD') reply.raw.end();
    else await send(content, reply.raw);
    return reply;
  });
}

interface ResolvedRange {
  /** Undefined when no byte of the range is in the file. */
  options: DownloadOptions | undefined;
  range: { size: number; header?: string };
}

/** A range needs the size of the file first. Passes on a request without a range as it is. */
async function resolveRange(
  { headers }: FastifyRequest,
  asked: DownloadOptions,
  look: () => Promise<Pick<Downloaded, 'sizeBytes' | 'version'>>,
): Promise<ResolvedRange> {
  if (headers.range === undefined || asked.format !== undefined)
    return { options: asked, range: { size: 0 } };
  const { sizeBytes: size = 0, version = '' } = await look();
  const condition = headers['if-range'];
  // A part of the new content does not fit a part of the old one.
  if (condition !== undefined && condition !== tagOf(version)) return { options: asked, range: { size } };
  const range = parseRange(headers.range, size);
  if (range === 'whole') return { options: asked, range: { size } };
  if (range === 'none') return { options: undefined, range: { size } };
  return { options: range, range: { size, header: `bytes ${range.start}-${range.end}/${size}` } };
}

function tagOf(version: string): string {
  return `"${version}"`;
}

function checkVersion(condition: string | undefined, version: string | undefined, path: string): void {
  const accepted = condition?.split(',').map((tag) => tag.trim());
  if (accepted === undefined || accepted.includes('*') || accepted.includes(tagOf(version ?? ''))) return;
  throw new WorkcellError(
    'file-changed',
    `${JSON.stringify(path)} changed since its download began. Download it again.`,
    { details: { path } },
  );
}

function refuseRange(reply: import('fastify').FastifyReply, size: number) {
  const error = new WorkcellError(
    'invalid-action',
    `No byte of that range is in the file; it has ${size} bytes.`,
  );
  return reply
    .code(416)
    .header('content-range', `bytes */${size}`)
    .type('application/json')
    .send(errorBody(error));
}

function fileHeaders(
  mediaType: string,
  sizeBytes: number | undefined,
  { start = 0, end = Number.POSITIVE_INFINITY }: DownloadOptions,
  contentRange: string | undefined,
): Record<string, string | number> {
  // A browser must treat an agent's file as data, never as a page of this server.
  const safety = {
    'x-content-type-options': 'nosniff',
    'content-disposition': 'attachment',
    'cache-control': 'no-store',
  };
  if (sizeBytes === undefined) return { 'content-type': mediaType, ...safety };
  return {
    'content-type': mediaType,
    ...safety,
    'accept-ranges': 'bytes',
    'workcell-size': sizeBytes,
    'content-length': Math.max(0, Math.min(end + 1, sizeBytes) - start),
    ...(contentRange !== undefined && { 'content-range': contentRange }),
  };
}

/** After the first bytes, only a broken stream can report a failure. */
async function send(content: AsyncIterable<Uint8Array>, response: ServerResponse): Promise<void> {
  const outgoing = new Outgoing(response);
  try {
    for await (const chunk of content) {
      await outgoing.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      if (outgoing.gone.aborted) return;
    }
    await outgoing.end();
  } catch {
    response.destroy();
  }
}
