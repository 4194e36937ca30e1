import { expect, test } from 'vitest';
import { serviceOpenapi } from '../../src/service/service-openapi.js';
import { servedRoutes } from './service-routes.js';

test('the document tells of every route of the service, and of no other', async () => {
  const document = serviceOpenapi() as { paths: Record<string, Record<string, unknown>> };
  const told = Object.entries(document.paths).flatMap(([path, entry]) =>
    Object.keys(entry).map((method) => `${method} ${path}`),
  );
  const own = told.filter((route) => route.includes('/v1/cells/{cell}'));
  // What stands below a cell besides is the executor's, which has a document of its own.
  const served = (await servedRoutes())
    .filter(({ url }) => !isPage(url))
    .map(({ method, url }) => `${method.toLowerCase()} ${url.replaceAll(/:(\w+)/g, '{$1}')}`);
  const routes = served.filter((route) => !route.includes('/v1/cells/{cell}') || own.includes(route));
  expect(told.toSorted()).toEqual(routes.toSorted());
});

test('whatever the document refers to is in it', () => {
  const document = serviceOpenapi() as { components: { schemas: object } };
  const references = JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g);
  for (const [, name] of references) expect(document.components.schemas).toHaveProperty(name ?? '');
});

/** Of the console, for browsers. */
function isPage(url: string): boolean {
  return url === '/' || url.startsWith('/console');
}
