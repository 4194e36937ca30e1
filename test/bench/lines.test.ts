/** Nobody runs all measurements with the tests, so a line could break without anybody noticing. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Line } from '../../bench/line.js';
import { tryOnly } from '../../bench/measure.js';
import { runLines } from '../../bench/run-lines.js';

const folder = new URL('../../bench/lines/', import.meta.url);
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.slice(0, -'.ts'.length));
/** One round of these takes less than a second. */
const short = ['builtin', 'external', 'files', 'pipeline', 'sandbox-cold', 'sandbox-warm'];

const state = mkdtempSync(join(tmpdir(), 'workcell-test-state-'));
beforeAll(() => {
  vi.stubEnv('XDG_STATE_HOME', state);
  tryOnly();
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(state, { recursive: true, force: true });
});

const load = async (name: string) =>
  ((await import(new URL(`${name}.ts`, folder).href)) as { default: Line }).default;

it.each(names)('the line %s loads under its own name', async (name) => {
  expect(await load(name)).toMatchObject({ name, measure: expect.any(Function) });
});

it.each(short)('one round of %s gives its figures', async (name) => {
  const { timings, floor, figures } = await (await load(name)).measure();
  expect(timings[floor]?.samples).toBe(1);
  expect(figures.length).toBeGreaterThan(0);
  for (const { value } of figures) expect(value).toBeGreaterThan(Number.NEGATIVE_INFINITY);
});

it('tells of a line that cannot run, counts it as missed, and measures the others', async () => {
  const figure = { name: 'p50', value: 3, unit: 'ms', better: 'less' } as const;
  const lines: Record<string, Line> = {
    broken: { name: 'broken', summary: '', measure: () => Promise.reject(new Error('no room here')) },
    one: {
      name: 'one',
      summary: '',
      measure: async () => ({
        timings: {},
        floor: '',
        figures: [
          { ...figure, bar: 2 },
          { ...figure, bar: 4 },
        ],
      }),
    },
  };
  const told: string[] = [];
  const missed = await runLines(['broken', 'one'], {
    load: async (name) => lines[name] as Line,
    measured: ({ name }) => void told.push(name),
    failed: (name, reason) => void told.push(`${name}: ${reason}`),
  });
  expect(told).toEqual(['broken: no room here', 'one']);
  expect(missed).toBe(2);
});
