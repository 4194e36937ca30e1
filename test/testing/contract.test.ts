/** The contract suite as others use it: data and functions, under any runner. */
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { expect as ours } from '../../src/testing/contract/expect.js';
import { contractTests, type RequirementId, requirements } from '../../src/testing/index.js';
import { checkout, filesBelow, importsOf, readText } from '../house/source.js';

const allTraits = ['limited-tree', 'kernels', 'checkpoints', 'forks'] as const;

describe('the contract', () => {
  test('has one test for each requirement, and leaves out those whose trait a place lacks', () => {
    const ids = Object.keys(requirements) as RequirementId[];
    const titles = (traits: readonly (typeof allTraits)[number][]) =>
      contractTests({ backend: 'cli' }, { traits }).map(({ id }) => id);
    expect(titles(allTraits)).toEqual(ids);
    expect(titles([])).toEqual(ids.filter((id) => requirements[id].trait === undefined));
    const shown = filesBelow('src/testing/contract/behaviours', '.ts').flatMap((file) =>
      [...readText(file).matchAll(/^ {2}(?:async )?'([\w.-]+)'(?:: async)? ?\(/gm)].map(([, id]) => id),
    );
    expect(shown.sort()).toEqual([...ids].sort());
  });

  test('needs no test runner', () => {
    const imported = filesBelow('src/testing', '.ts').flatMap((file) => importsOf(readText(file)));
    expect(imported).not.toContain('vitest');
    expect(imported).not.toContain('node:test');
  });

  test('refuses a gap that names no requirement', () => {
    const gaps = { 'shell.no-such': 'x' } as Record<string, string>;
    expect(() => contractTests({ backend: 'cli' }, { gaps })).toThrow(
      'There is no requirement shell.no-such',
    );
  });

  test('fails a gap that holds, passes one that does not, and lets timing decide where it is told to', async () => {
    const id = 'refused.unknown-backend';
    const only = (options: Parameters<typeof contractTests>[1], backend = 'cli') =>
      contractTests({ backend } as never, options).find((each) => each.id === id);
    await expect(only({ gaps: { [id]: 'none' } })?.run()).rejects.toThrow(`${id} holds`);
    await only({ gaps: { [id]: 'it starts nothing' } }, 'nowhere')?.run();
    await only({ sometimes: { [id]: 'it starts nothing' } }, 'nowhere')?.run();
    await expect(only({}, 'nowhere')?.run()).rejects.toMatchObject({ code: 'backend-unknown' });
    expect(only({ gaps: { [id]: 'none' } })?.title).toContain('(gap: none)');
  });

  test('runs under node:test as well', () => {
    const program = `
      import { test } from 'node:test';
      import { contractTests } from './src/testing/index.ts';
      const ids = ['shell.exit-code', 'refused.unknown-key'];
      const tests = contractTests({ backend: 'cli' }, { gaps: { 'shell.exit-code': 'to see it fail' } });
      for (const { id, title, run } of tests) if (ids.includes(id)) test(title, run);`;
    const result = (() => {
      try {
        const words = ['--import', 'tsx', '--input-type=module', '--eval', program];
        return execFileSync(process.execPath, words, {
          cwd: checkout,
          encoding: 'utf8',
          env: { ...process.env, NODE_TEST_CONTEXT: undefined },
        });
      } catch (error) {
        return String((error as { stdout?: string }).stdout);
      }
    })();
    expect(result).toMatch(/[#ℹ] pass 1\n[#ℹ] fail 1/);
    expect(result).toContain('shell.exit-code holds. Take it out of the gaps.');
  });
});

describe('its assertions', () => {
  const fails = (assertion: () => void) => expect(assertion).toThrow(/to[A-Z]/);

  test('equality looks at all, and takes undefined for absent', () => {
    ours({ a: [1, { b: 2 }], c: undefined }).toEqual({ a: [1, { b: 2 }] });
    ours(Buffer.from('x')).toEqual(Buffer.from('x'));
    fails(() => ours({ a: 1, b: 2 }).toEqual({ a: 1 }));
    fails(() => ours({ a: 1 }).toEqual({ a: 1, b: 2 }));
    fails(() => ours([1, 2]).toEqual([1]));
    fails(() => ours(Buffer.from('x')).toEqual(Buffer.from('y')));
    fails(() => ours(Number.NaN).toBe(0));
    fails(() => ours({}).toBe({}));
  });

  test('a part of an object is enough where that is asked for, and lists are whole', () => {
    ours({ a: 1, b: { c: 2, d: 3 } }).toMatchObject({ b: { c: 2 } });
    ours([{ a: 1, b: 2 }]).toMatchObject([{ a: 1 }]);
    ours(Object.assign(new Error('x'), { code: 7 })).toMatchObject({ code: 7, message: 'x' });
    fails(() => ours({ b: { c: 2 } }).toMatchObject({ b: { c: 3 } }));
    fails(() => ours([{ a: 1 }, { a: 2 }]).toMatchObject([{ a: 1 }]));
    fails(() => ours(undefined).toMatchObject({ a: 1 }));
    fails(() => ours({}).toMatchObject({ a: 1 }));
  });

  test('values can be described', () => {
    ours({ a: 'some text', b: 1 }).toEqual({ a: ours.stringContaining('text'), b: ours.any(Number) });
    ours({ a: 'text' }).toMatchObject({ a: ours.stringMatching(/^t/) });
    fails(() => ours({ a: 1 }).toEqual({ a: ours.any(String) }));
    fails(() => ours({ a: 'x' }).toEqual({ a: ours.stringContaining('y') }));
    fails(() => ours({ a: 'x' }).toEqual({ a: ours.stringMatching(/y/) }));
  });

  test('texts, lists, numbers and their opposites', () => {
    ours('abc').toContain('b');
    ours([1, 2]).toContain(2);
    ours([{ a: 1 }]).toContainEqual({ a: 1 });
    ours('abc').toMatch(/^a/);
    ours('abc').not.toMatch(/^b/);
    ours([1]).toHaveLength(1);
    ours({ a: 1 }).not.toHaveProperty('b');
    ours(2).toBeGreaterThan(1);
    fails(() => ours('abc').not.toContain('b'));
    fails(() => ours([1]).toContain(2));
    fails(() => ours([{ a: 1 }]).toContainEqual({ a: 2 }));
    fails(() => ours(undefined).toMatch(/a/));
    fails(() => ours([1]).toHaveLength(2));
    fails(() => ours({ a: 1 }).not.toHaveProperty('a'));
    fails(() => ours(1).toBeGreaterThan(1));
    fails(() => ours(1).toBeLessThan(1));
    fails(() => ours(Number.NaN).toBeGreaterThanOrEqual(0));
    fails(() => ours(0).toBeUndefined());
    fails(() => ours(0).toBeNull());
  });

  test('what throws and what rejects', async () => {
    const refuse = Promise.reject(Object.assign(new Error('no such thing'), { code: 'none' }));
    await ours(refuse).rejects.toMatchObject({ code: 'none' });
    await ours(refuse).rejects.toThrow('such');
    await expect(ours(refuse).rejects.toThrow('other')).rejects.toThrow();
    await expect(ours(Promise.resolve(1)).rejects.toThrow()).rejects.toThrow('Expected a refusal');
    ours(() => {
      throw Object.assign(new Error('x'), { code: 1 });
    }).toThrow(ours.objectContaining({ code: 1 }));
    fails(() => ours(() => {}).toThrow());
    expect(() => ours(1, 'what was done').toBe(2)).toThrow('what was done');
  });
});
