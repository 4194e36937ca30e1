/** What of a plugin travels to an executor that has nothing of this machine. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { shipPlugins } from '../../src/backends/shipped-plugins.js';
import { checkout } from '../house/source.js';

const folder = mkdtempSync(join(tmpdir(), 'shipped-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ship = (source: string | undefined, options?: unknown) =>
  shipPlugins([{ plugin: { name: 'it' } as never, source, options }], '/there');

test('a plugin of this package is told by its name', async () => {
  expect(await ship('mcp', { a: 1 })).toEqual({
    specs: [{ name: 'mcp', options: { a: 1 } }],
    files: new Map(),
  });
});

test('one from elsewhere comes as one module that needs no package beside it', async () => {
  const source = pathToFileURL(join(checkout, 'examples/plugin/index.js')).href;
  const { specs, files } = await ship(source, { start: 40 });
  expect(specs).toEqual([{ name: 'file:///there/0.mjs', options: { start: 40 } }]);
  const file = join(folder, '0.mjs');
  writeFileSync(file, files.get('0.mjs') ?? '');
  const { default: plugin } = await import(pathToFileURL(file).href);
  expect(plugin.actions.count_words.input.parse({ action: 'count_words', path: 'a' })).toMatchObject({
    path: 'a',
  });
});

test('what cannot come along is refused with the reason', async () => {
  const file = join(folder, 'plugin.mjs');
  writeFileSync(file, "import { createRuntime } from 'workcell';\nexport default { createRuntime };\n");
  await expect(ship(pathToFileURL(file).href)).rejects.toMatchObject({
    code: 'invalid-config',
    message: expect.stringMatching(
      /^Plugin "it" cannot be brought into a container: .*plugin\.mjs:1: "workcell" cannot be imported in a cell; workcell\/plugins and workcell\/protocol can$/,
    ),
  });
  await expect(ship(undefined)).rejects.toMatchObject({ code: 'invalid-config' });
});
