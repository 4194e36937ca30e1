/** A span for each request, as part of the trace that its client names. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { beginSpan, type Span } from '../../protocol/tracing.js';
import { failureOf } from './http-errors.js';

export function traceRequests(app: FastifyInstance): void {
  const spans = new WeakMap<FastifyRequest, Span>();
  app.addHook('onRequest', (request, reply, done) => {
    const { headers, method, routeOptions } = request;
    const { url: route = 'unknown' } = routeOptions;
    const attributes = {
      'http.request.method': method,
      'http.route': route,
      'workcell.request_id': request.id,
    };
    const span = beginSpan(`${method} ${route}`, { kind: 'server', attributes, headers });
    if (span === undefined) return done();
    spans.set(request, span);
    reply.raw.once('close', () => {
      const { statusCode } = reply;
      span.note({ 'http.response.status_code': statusCode });
      span.end(statusCode >= 500 ? failureOf(reply) : undefined);
    });
    span.within(done);
  });
  // A body arrives by events of its socket, which are outside of the span.
  app.addHook('preHandler', (request, _reply, done) => {
    const span = spans.get(request);
    if (span === undefined) done();
    else span.within(done);
  });
}
