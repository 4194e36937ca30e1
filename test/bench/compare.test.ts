import { describe, expect, it } from 'vitest';
import { judge, roundOf } from '../../bench/compare/compare.js';
import { beyondNoise, compareRounds, fewestRounds } from '../../bench/compare/statistics.js';

const summary = (p50: number) => ({ samples: 1, p50, p95: p50, p99: p50, max: p50 });
const rounds = (values: readonly number[], other: readonly number[]) =>
  values.map(
    (value, index) =>
      new Map([
        ['builtin: cli', value],
        ['builtin: sandbox', other[index] ?? 1],
      ]),
  );
const noisy = [1, 1.3, 0.9, 1.1, 1.4, 0.8, 1.2, 1, 0.95, 1.05];

describe('comparing two heads', () => {
  it('finds what became slower in every round, and calls nothing else a change', () => {
    const slower = noisy.map((value) => value * 1.05);
    const shuffled = [1.3, 1, 1.1, 0.9, 0.8, 1.4, 1, 1.2, 1.05, 0.95];
    const verdicts = judge(rounds(noisy, noisy), rounds(slower, shuffled));
    expect(verdicts).toMatchObject([
      { name: 'builtin: cli', beyondNoise: true },
      { name: 'builtin: sandbox', beyondNoise: false },
    ]);
    expect(verdicts[0]?.ratio).toBeCloseTo(1.05);
  });

  it('counts exactly how often chance gives as much', () => {
    expect(compareRounds([1, 1, 1], [2, 2, 2]).chance).toBe(2 / 8);
    expect(compareRounds([1, 1], [2, 0.5]).chance).toBe(1);
  });

  it('is stricter the more timings it looks at', () => {
    expect(beyondNoise([0.03], 0.05)).toEqual([true]);
    expect(beyondNoise([0.03, 0.04], 0.05)).toEqual([false, false]);
    expect(beyondNoise([0.01, 0.04], 0.05)).toEqual([true, true]);
    expect(fewestRounds(1, 0.05)).toBe(6);
    expect(2 / 2 ** fewestRounds(20, 0.05)).toBeLessThanOrEqual(0.05 / 20);
  });

  it('compares each timing with the floor of its own run', () => {
    const report = {
      name: 'external',
      floor: 'spawn',
      figures: [],
      timings: { spawn: summary(4), cell: summary(2) },
    };
    expect([...roundOf([report])]).toEqual([['external: cell', 0.5]]);
  });

  it('leaves out a timing without a floor', () => {
    const report = { name: 'external', floor: 'gone', figures: [], timings: { cell: summary(2) } };
    expect(roundOf([report])).toEqual(new Map());
  });

  it('leaves out a timing that only one head knows', () => {
    expect(judge([new Map([['a', 1]])], [new Map([['b', 1]])])).toEqual([]);
  });
});
