/** Directories that a person wants to find again, and those in which to look for more; kept in memory. */

import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { parse, Refusal } from '../detail-errors.js';
import { words } from '../openhands-v1-messages.js';
import { pathSchema } from '../query-values.js';

const mostPlaces = 1000;

const placeSchema = z.object({ id: pathSchema, name: z.string().min(1).max(256), path: pathSchema });
const workspacesSchema = z.object({
  workspaces: z.array(placeSchema.extend({ parentPath: pathSchema.nullish() })).max(mostPlaces),
});
const parentsSchema = z.object({ parents: z.array(placeSchema).max(mostPlaces) });
const pathQuery = z.object({ path: pathSchema });

type Place = z.output<typeof placeSchema>;

export function savedWorkspaces(app: FastifyInstance): void {
  const workspaces = new Map<string, Place>();
  const parents = new Map<string, Place>();
  const list = () => ({ workspaces: [...workspaces.values()], workspaceParents: [...parents.values()] });

  app.get('/api/workspaces', async () => list());

  app.post('/api/workspaces', async ({ body }) => {
    add(workspaces, parse(workspacesSchema, body, 'body').workspaces);
    return list();
  });

  app.post('/api/workspaces/parents', async ({ body }) => {
    add(parents, parse(parentsSchema, body, 'body').parents);
    return list();
  });

  for (const [url, places] of [
    ['/api/workspaces', workspaces],
    ['/api/workspaces/parents', parents],
  ] as const)
    app.delete(url, async ({ query }) => {
      if (!places.delete(parse(pathQuery, query, 'query').path))
        throw new Refusal(404, words('settings.no_workspace'));
      return { deleted: true };
    });
}

/** The first one of a path stays. */
function add(places: Map<string, Place>, more: readonly Place[]): void {
  const fresh = new Map(more.filter(({ path }) => !places.has(path)).map((place) => [place.path, place]));
  if (places.size + fresh.size > mostPlaces)
    throw new Refusal(400, words('settings.too_many_workspaces', { count: places.size, most: mostPlaces }));
  for (const [path, place] of fresh) places.set(path, place);
}
