/** Every endpoint of an OpenHands V0 action-execution server. */
import { posix } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { isLoopback } from '../../base/http/access.js';
import { describeIssues, type Executor } from '../../protocol/index.js';
import type { Say } from '../messages.js';
import { ActionQueue, type Connection } from './action-queue.js';
import { ActionServer, type ActionServerOptions } from './action-server.js';
import { createEditorToken } from './editor-token.js';
import { downloadZip } from './files/download-zip.js';
import { listNames } from './files/list.js';
import { uploadFile } from './files/upload-file.js';
import { viewPage } from './files/view-page.js';
import { HttpError, unreadable } from './http-error.js';
import { McpProxy } from './mcp/proxy.js';
import { openFilePart } from './multipart-part.js';
import { spoken } from './observations.js';
import { words } from './openhands-words.js';
import { ServerClock } from './server-info.js';

const actionBody = z.object({ action: z.record(z.string(), z.unknown()) });
const listBody = z.object({ path: z.string().nullish() });
const uploadQuery = z.object({
  destination: z.string().default('/'),
  recursive: z
    .stringbool({
      truthy: ['true', '1', 'yes', 'on', 't', 'y'],
      falsy: ['false', '0', 'no', 'off', 'f', 'n'],
    })
    .default(false),
});
const pathQuery = z.object({ path: z.string() });

export function openHandsRoutes(
  app: FastifyInstance,
  executor: Executor,
  options: ActionServerOptions & { readonly say: Say },
): void {
  const { say } = options;
  const actions = new ActionServer(executor, options);
  const queue = new ActionQueue();
  const clock = new ServerClock();
  const mcp = new McpProxy(executor, say);
  const editorToken = createEditorToken(executor);

  app.addHook('onReady', () => actions.start());
  app.addHook('onClose', () => mcp.close());

  app.get('/alive', { config: { open: true } }, async () => ({ status: 'ok' }));

  app.get('/server_info', { config: { open: true } }, async () => clock.info());

  app.post('/execute_action', async (request, reply) => {
    const work = actions.prepare(parse(actionBody, request.body).action);
    clock.actionStarts();
    return spoken(await queue.take(request.bodyHash, connectionOf(reply), work), say);
  });

  app.post('/upload_file', async (request) => {
    const query = parse(uploadQuery, request.query);
    const part = await openFilePart(request.raw, request.headers['content-type'], 'file');
    return uploadFile(executor, part, query);
  });

  app.get('/download_files', async (request, reply) => {
    const { path } = parse(pathQuery, request.query);
    const archive = await downloadZip(executor, path);
    const name = encodeURIComponent(`${posix.basename(path) || 'root'}.zip`);
    return reply
      .type('application/zip')
      .header('content-disposition', `attachment; filename*=utf-8''${name}`)
      .send(archive);
  });

  app.post('/list_files', async (request) => {
    const { path } = parse(listBody, request.body ?? {});
    return listNames(executor, posix.resolve(options.workingDirectory, path ?? '.'));
  });

  app.get('/view', async (request, reply) => {
    if (!isLoopback(request.ip.replace(/^::ffff:/, ''))) throw new HttpError(403, words('http.only_here'));
    const { status, html } = await viewPage(executor, parse(pathQuery, request.query).path, say);
    return reply.code(status).type('text/html; charset=utf-8').send(html);
  });

  app.get('/vscode/connection_token', async () => ({ token: await editorToken() }));

  app.post('/update_mcp_server', async (request) => mcp.update(request.body));

  // The stream announces the path for messages without a prefix, so answer both at both.
  for (const prefix of ['', '/mcp']) {
    app.get(`${prefix}/sse`, async (_request, reply) => {
      await mcp.open(reply.raw);
      reply.hijack();
    });
    app.post(`${prefix}/messages/`, async (request, reply) => {
      const { sessionId } = request.query as { sessionId?: unknown };
      await mcp.receive(sessionId, request.raw, reply.raw, request.body);
      reply.hijack();
    });
  }
}

function connectionOf({ raw }: FastifyReply): Connection {
  return {
    onLost: (listener) =>
      raw.once('close', () => {
        if (!raw.writableEnded) listener();
      }),
  };
}

function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw unreadable(describeIssues(result.error));
}
