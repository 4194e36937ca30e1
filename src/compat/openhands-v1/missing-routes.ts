/** What clients may request and this server does not have: each gets an answer that its client understands. */

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Refusal } from './detail-errors.js';
import type { FacadeContext } from './facade-context.js';
import { words } from './openhands-v1-messages.js';

/** What the cell's own actions correspond to among the tools of the original. */
export const toolNames = ['terminal', 'file_editor', 'grep', 'glob'];

/** The half of the protocol that talks to models and keeps conversations. */
const otherHalf =
  /^\/api\/(acp|agent-profiles|canvas-extensions|cloud-proxy|conversations|file\/download-trajectory|llm|mcp|meta-profiles|plugins|profiles|settings\/(mcp|agent-schema|conversation-schema)|skills|sub-agents)(\/|$)/;

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

export function missingRoutes(app: FastifyInstance, { say }: FacadeContext): void {
  app.get('/api/tools/', async () => toolNames);
  app.get('/api/tools', async () => toolNames);

  app.get('/api/desktop/url', async () => {
    throw new Refusal(503, words('desktop.disabled'));
  });

  app.get('/sockets/events/:id', { websocket: true, config: { keyless: true } }, (socket) => {
    socket.close(4004, say(words('socket.no_conversation')));
  });
  app.route({ method: methods, url: '/api/*', handler: refuse });
}

async function refuse({ method, url }: FastifyRequest): Promise<never> {
  const [path = ''] = url.split('?');
  if (!otherHalf.test(path)) throw new Refusal(404, words('http.not_found'));
  throw new Refusal(501, words('http.other_half', { method, path }));
}
