import type { FastifyInstance } from 'fastify';
import { createReadinessProbe } from '../readiness.js';
import type { ServerContext } from '../server-context.js';

export function statusRoutes(app: FastifyInstance, context: ServerContext): void {
  const { info, calls, counters } = context;
  const probe = createReadinessProbe(() => context.executor());

  app.get('/alive', { config: { open: true } }, (_request, reply) => {
    void reply.type('application/json; charset=utf-8').send('{"alive":true}');
  });

  app.get('/ready', async (_request, reply) => {
    const readiness = await probe();
    return reply.code(readiness.ready ? 200 : 503).send(readiness);
  });

  app.get('/v1/info', () => Promise.resolve(info));

  app.get('/v1/stats', async () => ({
    cell: await context.executor().execute({ action: 'stats' }),
    server: {
      uptimeMs: performance.now() - counters.startedAt,
      memoryBytes: process.memoryUsage.rss(),
      requests: counters.requests,
      failures: counters.failures,
      connections: counters.connections(),
      terminals: counters.terminals,
      runningActions: calls.running,
      keptActions: calls.kept,
    },
  }));

  app.post('/v1/close', async (_request, reply) => {
    await context.closeExecutor();
    return reply.code(204).send();
  });

  app.get('/openapi.json', async () => {
    const { openapiDocument } = await import('../openapi.js');
    return openapiDocument(info.version, context.executor().actions);
  });

  app.get('/docs', async (_request, reply) => {
    const { docsPage } = await import('../docs-page.js');
    const policy = "default-src 'none'; style-src 'unsafe-inline'";
    return reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', policy)
      .send(docsPage(info.version, context.executor().actions));
  });

  app.get('/metrics', async (_request, reply) => {
    const { renderMetrics } = await import('../metrics.js');
    const { contentType, text } = renderMetrics(context);
    return reply.type(contentType).send(text);
  });
}
