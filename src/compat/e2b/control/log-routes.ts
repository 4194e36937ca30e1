/** The log of a sandbox, for clients of the control API. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { query } from './control-input.js';
import type { Control } from './control-routes.js';
import type { LogLine } from './sandbox-log.js';

const logSchema = z.object({
  limit: z.coerce.number().int().min(0).max(1000).default(100),
  /** Milliseconds since 1970. */
  start: z.coerce.number().int().optional(),
  cursor: z.coerce.number().int().optional(),
  direction: z.enum(['forward', 'backward']).default('forward'),
  level: z.enum(['debug', 'info', 'warn', 'error']).optional(),
  search: z.string().max(200).optional(),
});

export function logRoutes(app: FastifyInstance, control: Control): void {
  app.get('/v2/sandboxes/:id/logs', async (request) => ({ logs: linesFor(control, request) }));
  app.get('/sandboxes/:id/logs', async (request) => {
    const logEntries = linesFor(control, request);
    return { logs: logEntries.map(({ timestamp, message: line }) => ({ timestamp, line })), logEntries };
  });
}

function linesFor({ find, sandboxes }: Control, request: FastifyRequest): LogLine[] {
  const { record } = find(request, 'reader');
  const { limit, start, cursor, direction, level, search } = query(logSchema, request);
  const from = cursor ?? start;
  const lines = sandboxes
    .stateOf(record.id)
    .log.lines()
    .filter((line) => from === undefined || Date.parse(line.timestamp) >= from)
    .filter((line) => level === undefined || line.level === level)
    .filter((line) => search === undefined || line.message.includes(search));
  return (direction === 'backward' ? lines.toReversed() : lines).slice(0, limit);
}
