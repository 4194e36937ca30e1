/** What a browser must hear before a page may use the answers. The server accepts only origins that you name. */
import type { FastifyInstance } from 'fastify';

const permissions = {
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': 'content-type, x-session-api-key, x-expose-secrets',
  'access-control-max-age': '600',
};

export function answerBrowsers(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ headers: { origin } }, reply) => {
    if (origin === undefined) return;
    reply.headers({
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      vary: 'origin',
    });
  });
  app.options('/*', { config: { keyless: true } }, (_request, reply) => {
    void reply.code(204).headers(permissions).send();
  });
}
