import type { FastifyInstance } from 'fastify';
import { expect, test } from 'vitest';
import { createServiceApp, type ServiceParts } from '../../src/service/service-app.js';
import { serviceOpenapi } from '../../src/service/service-openapi.js';

/** Every route of the application, as the document writes them. */
async function served(): Promise<string[]> {
  const app: FastifyInstance = createServiceApp({} as ServiceParts, {});
  const found = new Set<string>();
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat())
      if (one !== 'HEAD' && one !== 'OPTIONS')
        found.add(`${one.toLowerCase()} ${url.replaceAll(/:(\w+)/g, '{$1}')}`);
  });
  await app.ready();
  await app.close();
  return [...found];
}

test('the document tells of every route of the service, and of no other', async () => {
  const document = serviceOpenapi() as { paths: Record<string, Record<string, unknown>> };
  const told = Object.entries(document.paths).flatMap(([path, entry]) =>
    Object.keys(entry).map((method) => `${method} ${path}`),
  );
  const own = told.filter((route) => route.includes('/v1/cells/{cell}'));
  // What stands below a cell besides is the executor's, which has a document of its own.
  const routes = (await served()).filter(
    (route) => !route.includes('/v1/cells/{cell}') || own.includes(route),
  );
  expect(told.toSorted()).toEqual(routes.toSorted());
});

test('whatever the document refers to is in it', () => {
  const document = serviceOpenapi() as { components: { schemas: object } };
  const references = JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g);
  for (const [, name] of references) expect(document.components.schemas).toHaveProperty(name ?? '');
});
