/** A second address on loopback that shows pictures and PDF files to browsers of this machine, which have no key. */
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccess } from '../../base/http/access.js';
import { createHttpApp } from '../../base/http/http-app.js';
import { type HttpListener, listen } from '../../base/http/listen.js';
import { type Executor, WorkcellError } from '../../protocol/index.js';
import type { Say } from '../messages.js';
import { viewPage } from './files/view-page.js';
import { HttpError, sendFailure } from './http-error.js';
import { words } from './openhands-words.js';
import { perform } from './perform-action.js';

/** Where programs look for the address, to which they add `/view?path=…`: `/tmp/oh-server-url`, unless TMPDIR says otherwise. */
const announcement = join(tmpdir(), 'oh-server-url');

/**
 * The address has a secret in its path, and the file that tells it is for the user of the commands alone: others on this
 * machine can reach loopback too.
 */
export async function serveFileViewer(executor: Executor, say: Say): Promise<HttpListener> {
  const secret = randomBytes(24).toString('base64url');
  const app = createHttpApp({
    access: createAccess({}),
    sendFailure: (reply, error) => sendFailure(reply, error, say),
  });
  app.setNotFoundHandler((_request, reply) =>
    sendFailure(reply, new HttpError(404, words('http.not_found')), say),
  );
  app.get(`/${secret}`, async () => ({ status: 'ok' }));
  app.get<{ Querystring: { path?: unknown } }>(`/${secret}/view`, async (request, reply) => {
    const { status, html } = await viewPage(executor, String(request.query.path ?? ''), say);
    return reply.code(status).type('text/html; charset=utf-8').send(html);
  });
  const listener = await listen(app, { host: '127.0.0.1', port: 0 });
  const { address } = listener;
  const url = 'port' in address ? `http://localhost:${address.port}/${secret}` : '';
  await announce(executor, url);
  return {
    address,
    get connections() {
      return listener.connections;
    },
    async close() {
      await listener.close();
      await withdraw(executor, url);
    },
  };
}

/** With several servers on one machine, clients find the last one. */
async function announce(executor: Executor, url: string): Promise<void> {
  // The file may belong to another user; then clients find that user's server.
  await tolerating(async () => {
    await perform(executor, { action: 'write', path: announcement, content: url, mode: 0o600 });
  });
}

async function withdraw(executor: Executor, url: string): Promise<void> {
  await tolerating(async () => {
    const { content } = await perform(executor, { action: 'read', path: announcement });
    if (content === url) await perform(executor, { action: 'remove', path: announcement });
  });
}

async function tolerating(work: () => Promise<void>): Promise<void> {
  await work().catch((error: unknown) => {
    if (!WorkcellError.isInstance(error)) throw error;
  });
}
