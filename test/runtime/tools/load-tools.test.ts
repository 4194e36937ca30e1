import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { loadTools } from '../../../src/index.js';
import { functionSource } from '../../../src/runtime/tools/function-source.js';

const folder = mkdtempSync(join(tmpdir(), 'load-tools-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const one = (name: string) => `tool({ name: ${name}, description: '', execute: () => ${name} })`;

const modules: Record<string, string> = {
  'all.ts': `export const a = ${one("'a'")}; export const more: unknown[] = [${one("'b'")}, ${one("'c'")}]; export const other = 1;`,
  'factory.ts': `export function kit({ names }: { names: string[] }) { return names.map((name) => ${one('name')}); }`,
  'class.ts': `export default class Kit { constructor(readonly given: { name: string }) {} getTools() { const { name } = this.given; return [${one('name')}]; } }`,
  'twice.ts': `export const a = ${one("'same'")}; export const b = ${one("'same'")};`,
  'empty.ts': 'export const nothing = 1;',
  'broken.ts': 'export const a = ;',
  'throws.ts': "throw new Error('at once');",
  'needs.ts': "import 'not-installed-anywhere';",
  'heavy.ts': "import { createRuntime } from 'workcell'; export const a = createRuntime;",
};
for (const [name, source] of Object.entries(modules)) {
  writeFileSync(join(folder, name), `import { tool } from 'workcell';\n${source}\n`);
}

const names = async (entrypoint: string | string[], given?: unknown) =>
  (await loadTools(entrypoint, { from: folder, arguments: given })).map((tool) => tool.name);

describe('tools of a module', () => {
  test('are all that it exports', async () => {
    expect(await names('./all.ts')).toEqual(['a', 'b', 'c']);
    const [a] = await loadTools('./all.ts', { from: folder });
    expect(await a?.execute({})).toBe('a');
  });

  test('can be those of one export, or of several', async () => {
    expect(await names('./all.ts#more')).toEqual(['b', 'c']);
    expect(await names(['./all.ts#more', './all.ts#a'])).toEqual(['b', 'c', 'a']);
  });

  test('can be made with arguments, by a function or a class', async () => {
    expect(await names('./factory.ts', { names: ['p', 'q'] })).toEqual(['p', 'q']);
    expect(await names('./factory.ts#kit', { names: ['p'] })).toEqual(['p']);
    expect(await names('./class.ts', { name: 'n' })).toEqual(['n']);
  });

  test.each([
    ['./missing.ts', 'does not exist'],
    ['no-such-package', 'does not exist'],
    ['./all.ts#absent', 'has no export "absent". It exports: a, more, other'],
    ['./all.ts#other', 'has no tools'],
    ['./empty.ts', 'has no tools'],
    ['./twice.ts', 'two tools have the name "same"'],
    ['./broken.ts', 'broken.ts:2: Unexpected ";"'],
    ['./throws.ts', 'at once'],
    ['./needs.ts', 'not-installed-anywhere'],
    ['./heavy.ts', 'createRuntime'],
    ['#x', 'is not an entry point'],
  ])('%s is refused: %s', async (entrypoint, message) => {
    await expect(names(entrypoint)).rejects.toMatchObject({
      code: 'invalid-tool',
      message: expect.stringContaining(message),
    });
  });
});

describe('a function as source', () => {
  const outside = 7;
  const inObject = {
    async method({ a }: { a: number }) {
      return [a].map((b) => b);
    },
    async *steps() {
      yield 1;
    },
  };

  test.each([
    ['an arrow', ({ a }: { a: number }) => a + Math.max(1, 2)],
    [
      'one with variables of its own',
      function own(list: number[]) {
        let sum = 0;
        const add = (value: number) => {
          sum += value;
        };
        for (const value of list) add(value);
        try {
          return sum;
        } catch (error) {
          return String(error);
        }
      },
    ],
    ['a method', inObject.method],
    ['a generator', inObject.steps],
  ])('%s stands for itself', (_, execute) => {
    expect(new Function(`return typeof ${functionSource('x', execute)}`)()).toBe('function');
  });

  test('that uses something from outside is refused with its name', () => {
    expect(() => functionSource('x', () => outside + 1)).toThrow('uses "outside" from outside itself');
    expect(() => functionSource('x', inObject.method.bind(null))).toThrow('has no source');
  });
});
