import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { parse, Refusal } from '../detail-errors.js';
import type { FacadeContext } from '../facade-context.js';
import { words } from '../openhands-v1-messages.js';
import { readJson } from '../request-body.js';
import { executeRequestSchema } from './commands.js';
import { plainId, searchEvents, searchQuerySchema } from './search-bash-events.js';

const idsSchema = z.array(z.string()).max(1000);

export function bashRoutes(app: FastifyInstance, { commands, events }: FacadeContext): void {
  app.post('/api/bash/start_bash_command', async ({ body }) => {
    return commands.start(parse(executeRequestSchema, body, 'body')).event;
  });

  app.post('/api/bash/execute_bash_command', ({ body }) => {
    return commands.execute(parse(executeRequestSchema, body, 'body'));
  });

  app.get('/api/bash/bash_events/search', async ({ query }) => {
    return searchEvents(events, parse(searchQuerySchema, query, 'query'));
  });

  app.get<{ Params: { id: string } }>('/api/bash/bash_events/:id', async ({ params }) => {
    const event = events.get(plainId(params.id));
    if (event === undefined) throw new Refusal(404, words('bash.no_event'));
    return event;
  });

  for (const path of ['/api/bash/bash_events', '/api/bash/bash_events/']) {
    app.get(path, async ({ raw }) => {
      const ids = parse(idsSchema, await readJson(raw), 'body');
      return ids.map((id) => events.get(plainId(id)) ?? null);
    });
    app.delete(path, async () => ({ cleared_count: events.clear() }));
  }
}
