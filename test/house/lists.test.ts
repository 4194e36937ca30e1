/** Lists that must agree: actions and handlers, tables and reference pages, backends and what belongs to each. */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pages } from '../../scripts/docs.js';
import { backends } from '../../src/backends/index.js';
import { handlers } from '../../src/cell/executor/handlers/index.js';
import { actionNames, actions, errorCodes } from '../../src/protocol/index.js';
import { checkout, filesBelow, readText } from './source.js';

test('every action has a handler and every handler an action', () => {
  expect(Object.keys(handlers).sort()).toEqual([...actionNames].sort());
});

test('every action is listed under its own name', () => {
  for (const [key, { name, input, output }] of Object.entries(actions)) {
    expect(name).toBe(key);
    expect(input.shape.action.value).toBe(key);
    expect(output.shape.observation.value).toBe(key);
  }
});

test('every error code has its line in docs/reference/errors.md', () => {
  const page = readText('docs/reference/errors.md');
  expect(errorCodes.filter((code) => !page.includes(`| \`${code}\` |`))).toEqual([]);
});

test('every action has its entry in docs/reference/actions.md', () => {
  const page = readText('docs/reference/actions.md');
  expect(actionNames.filter((name) => !page.includes(`## \`${name}\`\n`))).toEqual([]);
});

test.each(Object.entries(pages()))('%s says what the schemas say; npm run docs rewrites it', (path, text) => {
  expect(readText(path)).toBe(text);
});

describe('backends', async () => {
  const files = filesBelow('src/backends', '.ts').filter((file) => /^export default /m.test(readText(file)));
  const types = files.map((file) =>
    basename(file) === 'index.ts' ? basename(join(file, '..')) : basename(file, '.ts'),
  );

  test('each file that exports a backend has its line in the registry, and no line is without a file', () => {
    expect(Object.keys(backends).sort()).toEqual(types.sort());
  });

  test.each(types)('%s is called the same everywhere and has a test and a page', async (type) => {
    const { default: backend } = await backends[type as keyof typeof backends]();
    expect(backend.type).toBe(type);
    for (const path of [`test/backends/${type}.test.ts`, `docs/reference/backends/${type}.md`]) {
      expect(existsSync(join(checkout, path)), `${path} exists`).toBe(true);
    }
  });
});
