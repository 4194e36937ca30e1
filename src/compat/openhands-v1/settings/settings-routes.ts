import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { parse, Refusal } from '../detail-errors.js';
import type { FacadeContext } from '../facade-context.js';
import { words } from '../openhands-v1-messages.js';
import { absolute, pathSchema } from '../query-values.js';
import { Secrets, secretNameSchema, secretSchema } from './client-secrets.js';
import { readHooks } from './hooks.js';
import { merge, type Settings } from './merge.js';

const largestSettings = 1024 * 1024;

const differenceSchema = z.record(z.string(), z.unknown()).nullish();
const updateSchema = z.object({
  agent_settings_diff: differenceSchema,
  conversation_settings_diff: differenceSchema,
  misc_settings_diff: differenceSchema,
});
const nameSchema = z.object({ name: secretNameSchema });
const hooksSchema = z.object({ project_dir: pathSchema.nullish() });

export function settingsRoutes(app: FastifyInstance, { executor, workspace }: FacadeContext): void {
  const secrets = new Secrets();
  let misc: Settings = {};
  const settings = () => ({
    agent_settings: { mcp_config: {} },
    conversation_settings: {},
    misc_settings: misc,
    llm_api_key_is_set: false,
    active_profile: null,
    active_agent_profile_id: null,
  });

  app.get('/api/settings', async () => settings());

  app.patch('/api/settings', async ({ body }) => {
    const update = parse(updateSchema, body, 'body');
    if (update.agent_settings_diff || update.conversation_settings_diff)
      throw new Refusal(501, words('settings.elsewhere'));
    const merged = merge(misc, update.misc_settings_diff ?? {});
    if (JSON.stringify(merged).length > largestSettings)
      throw new Refusal(413, words('settings.too_large', { characters: largestSettings }));
    misc = merged;
    return settings();
  });

  app.get('/api/settings/secrets', async () => ({ secrets: secrets.list() }));

  app.put('/api/settings/secrets', async ({ body }) => secrets.set(parse(secretSchema, body, 'body')));

  app.get('/api/settings/secrets/:name', async ({ params }, reply) => {
    return reply.type('text/plain; charset=utf-8').send(secrets.get(parse(nameSchema, params, 'path').name));
  });

  app.delete('/api/settings/secrets/:name', async ({ params }) => {
    secrets.delete(parse(nameSchema, params, 'path').name);
    return { deleted: true };
  });

  app.post('/api/hooks', async ({ body }) => {
    const { project_dir: directory } = parse(hooksSchema, body, 'body');
    return { hook_config: await readHooks(executor(), absolute(directory ?? workspace)) };
  });
}
