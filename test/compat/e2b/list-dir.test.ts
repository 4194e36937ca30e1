import Fastify from 'fastify';
import { expect, test } from 'vitest';
import type { OpenSandbox } from '../../../src/compat/e2b/e2b-sandboxes.js';
import { filesystemService } from '../../../src/compat/e2b/envd/filesystem-service.js';

test('the links of a large directory are followed a few at a time, and listed in order', async () => {
  const entry = { sizeBytes: 1, mode: 0o777, modifiedAt: 0 };
  const paths = Array.from({ length: 100 }, (_, at) => `/home/link-${at}`);
  let [underway, most] = [0, 0];
  const execute = async ({ action, path }: { action: string; path: string }) => {
    if (action === 'list')
      return { path, entries: paths.map((path) => ({ ...entry, path, type: 'symlink', target: 'file' })) };
    most = Math.max(most, ++underway);
    await new Promise((resolve) => setImmediate(resolve));
    underway--;
    return { ...entry, path, type: 'file' };
  };
  const sandbox = { home: '/home', executor: { execute }, state: { metadata: new Map() } };
  const app = Fastify();
  filesystemService(app, () => sandbox as unknown as OpenSandbox, {});
  const answer = await app.inject({
    method: 'POST',
    url: '/filesystem.Filesystem/ListDir',
    payload: { path: '/home' },
  });
  const { entries } = answer.json<{ entries: { path: string; symlinkTarget: string }[] }>();
  expect(entries.map(({ path }) => path)).toEqual(paths);
  expect(entries[0]?.symlinkTarget).toBe('/home/file');
  expect(most).toBe(32);
  await app.close();
});
