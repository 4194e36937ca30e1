import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { picture } from '../../bench/growth/picture.js';
import { type Grown, growthOf, growthSection } from '../../bench/growth/run.js';
import { subjects } from '../../bench/growth/subjects.js';

const state = mkdtempSync(join(tmpdir(), 'workcell-test-state-'));
beforeAll(() => {
  vi.stubEnv('XDG_STATE_HOME', state);
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(state, { recursive: true, force: true });
});

const grown = (name: string, ratios: readonly number[]): Grown => ({
  name,
  cost: 'one use',
  points: ratios.map((ratio, index) => ({ count: 10 ** index, ms: ratio * 2, ratio, eachMib: undefined })),
});

it.each(subjects.map((subject) => [subject.name, subject] as const))(
  'measures what one use costs as the number of %s grows',
  async (_, subject) => {
    const { points } = await growthOf({ ...subject, counts: [1, 3], rounds: 2 });
    expect(points.map(({ count }) => count)).toEqual([1, 3]);
    for (const { ms, ratio } of points) expect(Math.min(ms, ratio)).toBeGreaterThan(0);
  },
);

it('tells what grows from what stays flat, next to the floor of its own minute', () => {
  const section = growthSection(
    [grown('cells', [2, 2, 2, 2.1]), grown('events', [1, 1, 2, 8])],
    '2026-01-02',
  );
  expect(section).toMatch(/^\| cells \|.*\| flat, 1\.1× \|$/m);
  expect(section).toMatch(/^\| events \|.*1,000: 16\.0 ms \(8\.0×\) \| grows, 8\.0× \|$/m);
  expect(section).toContain('](benchmarks-growth.svg)');
});

it('draws a line through all points of each', () => {
  const drawn = picture([grown('cells', [1, 1, 1, 1]), grown('events', [1, 2, 3, 4])]);
  const lines = [...drawn.matchAll(/<polyline points="([^"]*)"/g)].map(([, points = '']) =>
    points.split(' ').map((point) => Number(point.split(',')[1])),
  );
  expect(lines).toHaveLength(2);
  expect(new Set(lines[0]).size).toBe(1);
  // Upwards is less in a picture.
  expect(lines[1]).toEqual([...(lines[1] ?? [])].sort((a, b) => b - a));
  expect(new Set(lines[1]).size).toBe(4);
});
