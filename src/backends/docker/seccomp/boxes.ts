/**
 * What the policy says of one system call, as boxes that do not overlap. The library that makes filters for engines
 * compares each argument at most once in a rule and knows no order among rules, so settle both here.
 */
import type { ArgumentTest, Errno, Rule } from '../../../cell/launchers/seccomp/seccomp-policy.js';

/** The bits of `mask` equal those of `value`. 64 bits wide. */
interface Pattern {
  readonly mask: bigint;
  readonly value: bigint;
}

export interface Box {
  /** What each argument must look like; an absent one can be anything. */
  readonly patterns: ReadonlyMap<number, Pattern>;
  readonly answer: Errno | 'allow';
}

type Space = ReadonlyMap<number, Pattern>;

const WORD = 32n;
const ALL_BITS = 0xffffffffn;

/** The first rule that holds decides; allow what none of them refuses. */
export function boxesOf(rules: readonly Rule[]): Box[] {
  const boxes: Box[] = [];
  let undecided: Space[] = [new Map()];
  for (const rule of rules) {
    let candidates = undecided;
    undecided = [];
    for (const test of rule.when ?? []) {
      undecided.push(...candidates.flatMap((space) => cut(space, test, false)));
      candidates = candidates.flatMap((space) => cut(space, test, true));
    }
    boxes.push(...candidates.map((patterns): Box => ({ patterns, answer: rule.answer })));
  }
  boxes.push(...undecided.map((patterns): Box => ({ patterns, answer: 'allow' })));
  return joined(boxes);
}

/** Two boxes that differ in a single bit are one. Each comparison less is time less at every start. */
function joined(boxes: readonly Box[]): Box[] {
  const rest = [...boxes];
  for (let first = 0; first < rest.length; first++) {
    for (let second = first + 1; second < rest.length; second++) {
      const both = join(rest[first], rest[second]);
      if (both === undefined) continue;
      rest.splice(second, 1);
      rest.splice(first, 1, both);
      // The new one may go together with any of the others.
      first = -1;
      break;
    }
  }
  return rest;
}

function join(one: Box | undefined, other: Box | undefined): Box | undefined {
  if (one === undefined || one.answer !== other?.answer) return undefined;
  let joint: { argument: number; pattern: Pattern } | undefined;
  for (const argument of new Set([...one.patterns.keys(), ...other.patterns.keys()])) {
    const [a, b] = [one.patterns.get(argument), other.patterns.get(argument)];
    if (a === undefined || a.mask !== b?.mask) return undefined;
    const difference = a.value ^ b.value;
    if (difference === 0n) continue;
    if (joint !== undefined || (difference & (difference - 1n)) !== 0n) return undefined;
    joint = { argument, pattern: { mask: a.mask & ~difference, value: a.value & ~difference } };
  }
  return joint && { ...one, patterns: new Map(one.patterns).set(joint.argument, joint.pattern) };
}

/** The parts of a space where the test holds, or those where it does not. */
function cut(space: Space, test: ArgumentTest, holds: boolean): Space[] {
  const known = space.get(test.argument) ?? { mask: 0n, value: 0n };
  return patternsOf(test, holds).flatMap((pattern) => {
    const common = known.mask & pattern.mask;
    if ((known.value & common) !== (pattern.value & common)) return [];
    const both = { mask: known.mask | pattern.mask, value: known.value | pattern.value };
    return [new Map(space).set(test.argument, both)];
  });
}

function patternsOf(test: ArgumentTest, holds: boolean): Pattern[] {
  const shift = test.word === 'high' ? WORD : 0n;
  return wordPatterns(test, holds).map(({ mask, value }) => ({
    mask: mask << shift,
    value: value << shift,
  }));
}

function wordPatterns(test: ArgumentTest, holds: boolean): Pattern[] {
  if ('anyBitOf' in test) {
    const bits = BigInt(test.anyBitOf);
    return holds ? outside(bits, [0n]) : [{ mask: bits, value: 0n }];
  }
  const mask = test.mask === undefined ? ALL_BITS : BigInt(test.mask);
  const values = ('oneOf' in test ? test.oneOf : test.noneOf).map((value) => BigInt(value >>> 0));
  const wanted = 'oneOf' in test ? holds : !holds;
  return wanted ? values.map((value) => ({ mask, value })) : outside(mask, values);
}

/** All words whose masked bits are none of the values: one pattern for each branch of their tree that none is in. */
function outside(mask: bigint, values: readonly bigint[]): Pattern[] {
  const bits = Array.from({ length: Number(WORD) }, (_, index) => 1n << (WORD - 1n - BigInt(index)));
  const descend = (rest: readonly bigint[], known: Pattern, left: readonly bigint[]): Pattern[] => {
    if (left.length === 0) return [known];
    const [bit, ...lower] = rest;
    if (bit === undefined) return [];
    return [0n, bit].flatMap((value) =>
      descend(
        lower,
        { mask: known.mask | bit, value: known.value | value },
        left.filter((one) => (one & bit) === value),
      ),
    );
  };
  return descend(
    bits.filter((bit) => (bit & mask) !== 0n),
    { mask: 0n, value: 0n },
    values,
  );
}
