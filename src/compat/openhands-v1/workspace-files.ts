/** The workspace as a website, for frames and pictures of a page that shows the agent's work. */

import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { posix } from 'node:path';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { webTypeOf } from '../../base/media-types.js';
import { parse, Refusal } from './detail-errors.js';
import type { FacadeContext } from './facade-context.js';
import { words } from './openhands-v1-messages.js';
import { createSessionKeys } from './session-key-check.js';

const cookieName = 'oh_workspace_session_key';
const cookieRules = 'HttpOnly; SameSite=None; Secure; Partitioned';

/**
 * A page of the workspace may run its scripts, but in another origin: it must not act for the person who looks at it.
 */
const confinement = {
  'content-security-policy': 'sandbox allow-scripts allow-forms allow-popups allow-downloads',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};

const placeSchema = z.object({
  // Which conversation does not matter: a server has one workspace.
  id: z.string().regex(/^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$/),
  '*': z
    .string()
    .refine((path) => !path.includes('\0'), 'must not contain a NUL character')
    .default(''),
});

export function workspaceFiles(app: FastifyInstance, { executor, workspace, keys }: FacadeContext): void {
  // Not a session key: the cookie lets its holder look at the workspace, and nothing else.
  const ticket = randomBytes(24).toString('base64url');
  const tickets = createSessionKeys([ticket]);

  app.post('/api/auth/workspace-session', (_request, reply) =>
    setCookie(app, reply, ticket, 400 * 24 * 3600),
  );
  app.delete('/api/auth/workspace-session', (_request, reply) => setCookie(app, reply, '', 0));

  for (const url of ['/api/conversations/:id/workspace', '/api/conversations/:id/workspace/*'])
    app.get(url, { config: { keyless: true } }, async ({ params, headers }, reply) => {
      if (!keys.acceptsHeaders(headers) && !tickets.accepts(cookieIn(headers)))
        throw new Refusal(401, words('http.unauthorized'));
      const path = placeIn(workspace, parse(placeSchema, params, 'path')['*']);
      const { type } = await executor().execute<'stat'>({ action: 'stat', path });
      const file = type === 'directory' ? `${path}/index.html` : path;
      const { content, sizeBytes } = await executor().download(file);
      if (sizeBytes !== undefined) void reply.header('content-length', sizeBytes);
      return reply
        .headers(confinement)
        .type(webTypeOf(file) ?? 'application/octet-stream')
        .send(Readable.from(content, { objectMode: false }));
    });
}

function placeIn(workspace: string, path: string): string {
  const place = posix.join(workspace, path);
  if (place !== workspace && !place.startsWith(workspace === '/' ? '/' : `${workspace}/`))
    throw new Refusal(400, words('http.outside'));
  return place.length > 1 && place.endsWith('/') ? place.slice(0, -1) : place;
}

function setCookie({ prefix }: FastifyInstance, reply: FastifyReply, value: string, seconds: number): void {
  const path = `Path=${prefix}/api/conversations`;
  void reply
    .code(204)
    .header('set-cookie', `${cookieName}=${value}; Max-Age=${seconds}; ${path}; ${cookieRules}`)
    .send();
}

function cookieIn({ cookie = '' }: IncomingHttpHeaders): string | undefined {
  const pairs = cookie.split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${cookieName}=`))?.slice(cookieName.length + 1);
}
