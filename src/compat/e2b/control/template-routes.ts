/** Templates: those of the service by their names, and the two default names of clients. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Template } from '../../../service/templates.js';
import { E2bError } from '../e2b-errors.js';
import { envdVersion } from '../e2b-sandbox.js';
import type { Control } from './control-routes.js';
import { sizesHere } from './sandbox-views.js';

/** The names that clients send when their user names none. The configuration can define templates of these names. */
const builtin = ['base', 'code-interpreter-v1'];

/** Whether a name, with its tag or without, is that of a template. */
export function isTemplate(templates: readonly Template[], asked: string): boolean {
  const [name = ''] = asked.split(':');
  return builtin.includes(name) || templates.some((one) => one.name === name);
}

export function templateFor(templates: readonly Template[], asked: string): Template {
  const [name = ''] = asked.split(':');
  const found =
    templates.find((one) => one.name === name) ??
    (builtin.includes(name) ? templates.find((one) => one.name === 'default') : undefined);
  if (found !== undefined) return found;
  throw new E2bError(404, `template '${asked}' not found`);
}

export function templateRoutes(app: FastifyInstance, { parts: { cells } }: Control): void {
  const since = new Date().toISOString();
  const names = () => [...new Set([...builtin, ...cells.templates.map(({ name }) => name)])];
  const view = (name: string) => ({
    templateID: name,
    buildID: name,
    names: [name],
    aliases: [name],
    public: false,
    ...sizesHere(),
    // A template is as old as the configuration that this process has read.
    createdAt: since,
    updatedAt: since,
    createdBy: null,
    lastSpawnedAt: null,
    envdVersion,
    spawnCount: 0,
    buildCount: 0,
    buildStatus: 'ready',
  });
  app.get('/templates', async () => names().map(view));
  app.get('/v2/templates', async () => names().map(view));
  app.get('/templates/aliases/:alias', async (request) => {
    const { alias } = request.params as { alias: string };
    templateFor(cells.templates, alias);
    return { templateID: alias, public: false };
  });

  // Building templates, volumes and secrets are not here; clients understand a 404.
  const refuse = async ({ method, url }: FastifyRequest): Promise<never> => {
    throw new E2bError(404, `This server has no ${method} ${url.split('?')[0]}.`);
  };
  for (const url of [
    '/templates/*',
    '/v2/templates/*',
    '/v3/templates',
    '/volumes',
    '/volumes/*',
    '/secrets',
    '/secrets/*',
  ])
    app.route({ method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], url, handler: refuse });
}
