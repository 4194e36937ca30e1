import { describe, expect, test } from 'vitest';
import {
  answer,
  assemble,
  ifAnyBit,
  ifEqual,
  type Line,
  label,
  load,
} from '../../../../src/cell/launchers/seccomp/bpf.js';
import { judge, jumpTargets } from './interpreter.js';

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const call = (number: number) => ({ auditArchitecture: 0, number });

describe('assemble', () => {
  test('encodes struct sock_filter', () => {
    const program = assemble([
      load(4),
      ifEqual(0xc000003e, { no: 'end' }),
      answer(ALLOW),
      label('end'),
      answer(KILL),
    ]);
    expect(program.toString('hex')).toBe('2000000004000000150000013e0000c0060000000000ff7f0600000000000080');
  });

  test.each([0, 1, 254, 255, 256, 257, 1000])(
    'a jump over %i instructions lands on its label, either way',
    (gap) => {
      const filler: Line[] = Array.from({ length: gap }, () => load(0));
      const far = [answer(ALLOW), ...filler, label('far'), answer(KILL)];
      const whenEqual = assemble([load(0), ifEqual(7, { yes: 'far' }), ...far]);
      expect([judge(whenEqual, call(7)), judge(whenEqual, call(8))]).toEqual(['kill', 'allow']);
      const unlessBit = assemble([load(0), ifAnyBit(1, { no: 'far' }), ...far]);
      expect([judge(unlessBit, call(2)), judge(unlessBit, call(3))]).toEqual(['kill', 'allow']);
    },
  );

  test('a jump that only the lengthening of others puts out of reach is lengthened too', () => {
    const jumps = Array.from({ length: 200 }, (_, index) => ifEqual(index, { yes: 'far' }));
    const filler: Line[] = Array.from({ length: 150 }, () => load(0));
    const program = assemble([load(0), ...jumps, answer(ALLOW), ...filler, label('far'), answer(KILL)]);
    for (let number = 0; number < 200; number += 1) expect(judge(program, call(number))).toBe('kill');
    expect(judge(program, call(200))).toBe('allow');
    expect(Math.max(...jumpTargets(program))).toBeLessThan(program.length / 8);
  });

  test.each<[string, Line[], RegExp]>([
    ['an unknown label', [ifEqual(1, { yes: 'nowhere' }), answer(ALLOW)], /'nowhere' is not defined/],
    ['a doubled label', [label('a'), label('a'), answer(ALLOW)], /'a' is defined twice/],
    ['a backward jump', [label('a'), load(0), ifEqual(1, { yes: 'a' }), answer(ALLOW)], /only go forward/],
    ['too long a program', Array.from({ length: 4097 }, () => answer(ALLOW)), /4097 instructions/],
  ])('refuses %s', (_, program, message) => {
    expect(() => assemble(program)).toThrow(message);
  });
});
