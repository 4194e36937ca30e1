import { posix } from 'node:path';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { parse, refusing } from '../detail-errors.js';
import type { FacadeContext } from '../facade-context.js';
import { absolute, flagSchema, numberSchema, pathSchema } from '../query-values.js';
import { bodyOf } from '../request-body.js';
import { openArchive, openPatch } from './archive.js';
import { findHome, searchSubdirectories } from './browse-directories.js';
import { describeRepository, findRoot } from './repository.js';
import { uploadForm } from './upload-form.js';

const fileQuery = z.object({ path: pathSchema.transform(absolute) });
const subdirectoryQuery = fileQuery.extend({
  page_id: z.string().optional(),
  limit: numberSchema.pipe(z.int().min(1).max(100)).default(100),
  include_hidden: flagSchema.default(false),
});
const archiveQuery = fileQuery.extend({
  format: z.enum(['git-delta', 'tar.gz']).default('git-delta'),
  base_ref: z.string().optional(),
  use_default_excludes: flagSchema.default(true),
  exclude: z
    .union([z.string().transform((pattern) => [pattern]), z.array(z.string())])
    .pipe(z.array(pathSchema.max(256)).max(100))
    .default([]),
});
const homeQuery = z.object({ include_hidden: flagSchema.optional() });

export function fileRoutes(app: FastifyInstance, { executor, workspace }: FacadeContext): void {
  // Leave the body unread; the route reads it as it arrives.
  app.addContentTypeParser('multipart/form-data', (_request, _body, done) => done(null));

  app.post('/api/file/upload', async ({ query, raw, headers }) => {
    const { path } = parse(fileQuery, query, 'query');
    await uploadForm(executor(), path, {
      body: bodyOf(raw),
      contentType: headers['content-type'],
    });
    return { success: true };
  });

  app.get('/api/file/download', async ({ query }, reply) => {
    const { path } = parse(fileQuery, query, 'query');
    const { content, sizeBytes } = await executor().download(path);
    if (sizeBytes !== undefined) void reply.header('content-length', sizeBytes);
    return reply
      .type('application/octet-stream')
      .header(...attachment(posix.basename(path)))
      .send(Readable.from(content, { objectMode: false }));
  });

  app.post('/api/file/create_directory', async ({ query }) => {
    await executor().execute({ action: 'make_dir', path: parse(fileQuery, query, 'query').path });
    return { success: true };
  });

  app.get('/api/file/home', ({ query }) => {
    parse(homeQuery, query, 'query');
    return findHome(executor(), workspace);
  });

  app.get('/api/file/search_subdirs', ({ query }) => {
    const { path, ...page } = parse(subdirectoryQuery, query, 'query');
    return searchSubdirectories(executor(), path, page);
  });

  app.get('/api/file/archive', async ({ query }, reply) => {
    const { path, format, base_ref, ...options } = parse(archiveQuery, query, 'query');
    const root = await findRoot(executor(), path);
    const name = posix.basename(root);
    if (format === 'tar.gz') {
      const archive = await openArchive(executor(), root, options);
      void reply.type('application/gzip').header(...attachment(`${name}.tar.gz`));
      return reply.headers(await describeRepository(executor(), root)).send(archive);
    }
    const { patch, base } = await refusing(openPatch(executor(), root, { base_ref, ...options }));
    void reply.type('text/x-patch').header(...attachment(`${name}.patch`));
    if (base.isCommit)
      void reply
        .header('x-archive-base-commit', base.id)
        .header('x-archive-base-ref', encodeURIComponent(base_ref ?? 'auto'));
    return reply.headers(await describeRepository(executor(), root)).send(patch);
  });
}

function attachment(name: string): [string, string] {
  if (/^[\w.~-]+$/.test(name)) return ['content-disposition', `attachment; filename="${name}"`];
  return ['content-disposition', `attachment; filename*=UTF-8''${encodeName(name)}`];
}

function encodeName(name: string): string {
  // Going through bytes, half a character becomes a whole one, which a header can carry.
  const text = Buffer.from(name).toString('utf8');
  return encodeURIComponent(text).replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`);
}
