/** What tools do alike, whether they run in this process or in a cell. */

import type { FunctionTool, ToolContext } from '../../../index.js';
import { expect } from '../expect.js';

/** Calls a tool of the kit by name. */
export type Use = (name: string, input?: unknown, context?: Partial<ToolContext>) => Promise<unknown>;

export const useOf =
  (tools: readonly FunctionTool[]): Use =>
  (name, input = {}, context = {}) => {
    const tool = tools.find((entry) => entry.name === name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    return tool.execute(input, context);
  };

export const alike: Record<string, (use: Use) => Promise<void>> = {
  'gives its result, and defaults for what is left out or null': async (use) => {
    expect(await use('add', { a: 1, b: 2 })).toBe(3);
    expect(await use('add', { a: 1 })).toBe(11);
    expect(await use('add', { a: 1, b: null })).toBe(11);
  },
  'names every problem of its arguments with the path': async (use) => {
    await expect(use('add', { a: 'x', b: [] })).rejects.toMatchObject({
      code: 'invalid-arguments',
      details: { tool: 'add', issues: [{ path: ['a'] }, { path: ['b'] }] },
    });
    await expect(use('echo')).rejects.toMatchObject({
      code: 'invalid-arguments',
      details: { issues: [{ path: ['value'], message: 'is missing' }] },
    });
  },
  'keeps its state between calls': async (use) => {
    const first = (await use('next')) as number;
    expect(await use('next')).toBe(first + 1);
  },
  'tells its progress and its log': async (use) => {
    const told: unknown[] = [];
    const context = {
      progress: (value: unknown) => told.push(value),
      log: (message: string) => told.push(message),
    };
    expect(await use('steps', {}, context)).toBe('done');
    expect(told).toEqual(['begins', { step: 1 }, { step: 2 }, { step: 3 }]);
  },
  'gets any JSON exactly': async (use) => {
    const values = [
      '\'"`$(id)\n\\\u2028 ünïcode 🎉',
      { nested: [null, true, -0.5, { '': [] }] },
      'x'.repeat(1_000_000),
      '__proto__',
    ];
    for (const value of values) expect(await use('echo', { value })).toEqual(value);
  },
  'that throws anything fails with tool-failed': async (use) => {
    for (const what of ['error', 'text', 'nothing', 'object', 'proxy'])
      await expect(use('fail', { what })).rejects.toMatchObject({ code: 'tool-failed' });
    await expect(use('fail', { what: 'error' })).rejects.toMatchObject({
      message: 'Tool "fail" failed: broken',
      details: { name: 'TypeError' },
    });
  },
  'that returns what no JSON can hold fails with invalid-result': async (use) => {
    for (const what of ['cycle', 'bigint', 'nan', 'huge'])
      await expect(use('give', { what })).rejects.toMatchObject({ code: 'invalid-result' });
    await expect(use('give', { what: 'nan' })).rejects.toThrow('list.1 is NaN');
    expect(await use('give', { what: 'nothing' })).toBeNull();
    expect(await use('give', { what: 'function' })).toBeNull();
    await expect(use('wrong')).rejects.toMatchObject({ code: 'invalid-result' });
  },
  'is given up after its time, and when it is cancelled': async (use) => {
    await expect(use('quick')).rejects.toMatchObject({ code: 'timed-out', details: { timeoutMs: 30 } });
    const controller = new AbortController();
    const sleeping = use('sleep', { ms: 60_000 }, { signal: controller.signal });
    setTimeout(() => controller.abort(), 20);
    await expect(sleeping).rejects.toMatchObject({ code: 'cancelled' });
    expect(await use('add', { a: 1 })).toBe(11);
  },
  'runs many calls at once': async (use) => {
    const calls = Array.from({ length: 50 }, (_, index) => use('sleep', { ms: 20, say: `${index}` }));
    expect(await Promise.all(calls)).toEqual(calls.map((_, index) => `${index}`));
  },
};
