/**
 * Tells whether a text matches a regular expression, and counts its steps. We cannot limit the engine's own
 * expressions, which try all ways, and cannot even give them a pattern from a cell: compiling one of some 50 KB ends
 * the process. This code follows all ways at the same time, so it takes at most the length of the text times the
 * length of the pattern.
 */
import {
  type CharacterTest,
  type Edge,
  isWord,
  type Pattern,
  parsePattern,
  type Room,
} from './pattern-parser.js';
import type { Work } from './work.js';

type Instruction =
  | { readonly do: 'match' }
  | { readonly do: 'take'; readonly test: CharacterTest }
  | { readonly do: 'edge'; readonly edge: Edge }
  | { readonly do: 'look'; readonly program: Program; readonly behind: boolean; readonly negative: boolean }
  /** Continues at several places; all others continue at the next one. */
  | { readonly do: 'go'; readonly to: number[] };

type Program = readonly Instruction[];

/** Following one way for one character takes less than a step, and so does beginning a search. */
const perState = 1 / 16;
const perSearch = 1 / 2;

export type TextTest = (text: string, work: Work) => boolean;

/** Throws a `SyntaxError` for text that is no pattern, is too long, or needs to remember what it found. */
export function compilePattern(source: string, room: Room): TextTest {
  const program = write(parsePattern(source, room), room);
  return (text, work) => {
    work.spend(perSearch + text.length * perState);
    return search({ points: codePointsOf(text), work }, program, { from: 0, anywhere: true });
  };
}

function codePointsOf(text: string): number[] {
  const points: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const point = text.codePointAt(at) as number;
    if (point > 0xffff) at++;
    points.push(point);
  }
  return points;
}

function write(pattern: Pattern, room: Room): Program {
  const program: Instruction[] = [];
  append(pattern, program, room);
  program.push({ do: 'match' });
  return program;
}

function append(pattern: Pattern, program: Instruction[], room: Room): void {
  if (--room.left < 0) throw new SyntaxError('it has too many parts, repetitions counted');
  switch (pattern.type) {
    case 'character':
      program.push({ do: 'take', test: pattern.test });
      return;
    case 'edge':
      program.push({ do: 'edge', edge: pattern.edge });
      return;
    case 'sequence':
      for (const part of pattern.parts) append(part, program, room);
      return;
    case 'choice':
      appendChoice(pattern.parts, program, room);
      return;
    case 'repeat':
      appendRepeat(pattern, program, room);
      return;
    case 'look': {
      const { part, behind, negative } = pattern;
      program.push({ do: 'look', program: write(part, room), behind, negative });
    }
  }
}

function appendChoice(parts: readonly Pattern[], program: Instruction[], room: Room): void {
  const begin: number[] = [];
  const ends: number[][] = [];
  program.push({ do: 'go', to: begin });
  for (const part of parts) {
    begin.push(program.length);
    append(part, program, room);
    const end: number[] = [];
    ends.push(end);
    program.push({ do: 'go', to: end });
  }
  for (const end of ends) end.push(program.length);
}

function appendRepeat(
  { part, least, most }: Extract<Pattern, { type: 'repeat' }>,
  program: Instruction[],
  room: Room,
): void {
  for (let count = 0; count < least; count++) append(part, program, room);
  const exits: number[][] = [];
  const mayEnd = () => {
    const to = [program.length + 1];
    exits.push(to);
    program.push({ do: 'go', to });
  };
  if (most === Number.POSITIVE_INFINITY) {
    const again = program.length;
    mayEnd();
    append(part, program, room);
    program.push({ do: 'go', to: [again] });
  } else {
    for (let count = least; count < most; count++) {
      mayEnd();
      append(part, program, room);
    }
  }
  for (const exit of exits) exit.push(program.length);
}

interface Subject {
  readonly points: readonly number[];
  readonly work: Work;
}

/** `anywhere`: a match may begin after `from`, too. `until`: it has to end there. */
interface Range {
  readonly from: number;
  readonly anywhere: boolean;
  readonly until?: number;
}

function search(subject: Subject, program: Program, { from, anywhere, until }: Range): boolean {
  const { points, work } = subject;
  work.spend(perSearch + program.length * perState);
  /** For each instruction, one more than the position where a way reached it last. */
  const reached = new Uint32Array(program.length);
  const waiting: number[] = [];
  let takers: number[] = [];
  let before: number[] = [];
  for (let position = from; ; position++) {
    [takers, before] = [before, takers];
    takers.length = 0;
    for (const index of before)
      if (takes(program[index], points[position - 1], work)) waiting.push(index + 1);
    if (anywhere || position === from) waiting.push(0);
    work.spend(perState);
    for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
      work.spend(perState);
      if (reached[index] === position + 1) continue;
      reached[index] = position + 1;
      const instruction = program[index] as Instruction;
      if (instruction.do === 'take') takers.push(index);
      else if (instruction.do === 'go') for (const to of instruction.to) waiting.push(to);
      else if (instruction.do !== 'match') {
        if (holds(subject, instruction, position)) waiting.push(index + 1);
      } else if (until === undefined || until === position) return true;
    }
    if (position >= (until ?? points.length) || (takers.length === 0 && !anywhere)) return false;
  }
}

function takes(instruction: Instruction | undefined, point: number | undefined, work: Work): boolean {
  if (instruction?.do !== 'take' || point === undefined) return false;
  const { test } = instruction;
  work.spend((1 + 4 * (test.parts ?? 0)) * perState);
  return test(point);
}

function holds(
  subject: Subject,
  instruction: Extract<Instruction, { do: 'edge' | 'look' }>,
  position: number,
): boolean {
  if (instruction.do === 'look') {
    const { program, behind, negative } = instruction;
    const range = behind ? { from: 0, anywhere: true, until: position } : { from: position, anywhere: false };
    return search(subject, program, range) !== negative;
  }
  const { points } = subject;
  if (instruction.edge === 'start') return position === 0;
  if (instruction.edge === 'end') return position === points.length;
  const before = position > 0 && isWord(points[position - 1] as number);
  const after = position < points.length && isWord(points[position] as number);
  return (before !== after) === (instruction.edge === 'word');
}
