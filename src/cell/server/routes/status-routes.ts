import type { FastifyInstance } from 'fastify';
import type { ContextOf } from '../server-context.js';
import { clientOf } from './action-routes.js';

export function statusRoutes(app: FastifyInstance, contextOf: ContextOf): void {
  app.get('/alive', { config: { open: true } }, (_request, reply) => {
    void reply.type('application/json; charset=utf-8').send('{"alive":true}');
  });

  app.get('/ready', async (request, reply) => {
    const readiness = await contextOf(request).readiness();
    return reply.code(readiness.ready ? 200 : 503).send(readiness);
  });

  app.get('/v1/info', (request) => Promise.resolve(contextOf(request).info));

  app.get('/v1/stats', async (request) => {
    const { executor, calls, counters } = contextOf(request);
    const cell = executor();
    return {
      cell: await (cell.glance?.() ?? cell.execute({ action: 'stats' })),
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
    };
  });

  app.post('/v1/close', async (request, reply) => {
    await contextOf(request).closeExecutor(clientOf(request));
    return reply.code(204).send();
  });

  app.get('/openapi.json', async (request) => {
    const { info, executor } = contextOf(request);
    const { openapiDocument } = await import('../openapi.js');
    return openapiDocument(info.version, executor().actions);
  });

  app.get('/docs', async (request, reply) => {
    const { info, executor } = contextOf(request);
    const { docsPage } = await import('../docs-page.js');
    const policy = "default-src 'none'; style-src 'unsafe-inline'";
    return reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', policy)
      .send(docsPage(info.version, executor().actions));
  });

  app.get('/metrics', async (request, reply) => {
    const { renderMetrics } = await import('../metrics.js');
    const { contentType, text } = renderMetrics(contextOf(request));
    return reply.type(contentType).send(text);
  });
}
