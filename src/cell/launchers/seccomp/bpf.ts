/** A small assembler for classic BPF: symbolic jump targets in, the kernel's `struct sock_filter` array out. */

/** One line of a program. Jumps name labels; a missing `yes` or `no` falls through to the next line. */
export type Line =
  | { readonly kind: 'label'; readonly name: string }
  | { readonly kind: 'statement'; readonly code: number; readonly k: number }
  | {
      readonly kind: 'jump';
      readonly code: number;
      readonly k: number;
      readonly yes?: string;
      readonly no?: string;
    };

type Targets = { readonly yes?: string; readonly no?: string };

export const label = (name: string): Line => ({ kind: 'label', name });
/** Loads the 32-bit word at this offset of `struct seccomp_data`. */
export const load = (offset: number): Line => ({ kind: 'statement', code: 0x20, k: offset });
export const and = (mask: number): Line => ({ kind: 'statement', code: 0x54, k: mask });
export const answer = (value: number): Line => ({ kind: 'statement', code: 0x06, k: value });
export const ifEqual = (value: number, to: Targets): Line => ({ kind: 'jump', code: 0x15, k: value, ...to });
export const ifAtLeast = (value: number, to: Targets): Line => ({
  kind: 'jump',
  code: 0x35,
  k: value,
  ...to,
});
/** Jumps when any bit of `mask` is set. */
export const ifAnyBit = (mask: number, to: Targets): Line => ({ kind: 'jump', code: 0x45, k: mask, ...to });

const JUMP_ALWAYS = 0x05;
const INSTRUCTION_BYTES = 8;
/** The kernel refuses longer programs (BPF_MAXINSNS). */
const MAX_INSTRUCTIONS = 4096;
/** A conditional jump has one byte for each distance; an unconditional one has 32 bits. */
const MAX_SHORT_JUMP = 255;

/** Resolves labels. Throws on an unknown, doubled or backward target and on a program the kernel would refuse. */
export function assemble(program: readonly Line[]): Buffer {
  const long = new Set<Line>();
  let positions = layOut(program, long);
  while (lengthenJumps(program, positions, long)) positions = layOut(program, long);
  const bytes = Buffer.concat(program.map((line, index) => encode(line, index, positions, long)));
  if (bytes.length > MAX_INSTRUCTIONS * INSTRUCTION_BYTES) {
    throw new RangeError(
      `BPF program has ${bytes.length / INSTRUCTION_BYTES} instructions, above ${MAX_INSTRUCTIONS}`,
    );
  }
  return bytes;
}

interface Positions {
  /** Index of the first instruction of each line, and one past the end. */
  readonly lines: readonly number[];
  readonly labels: ReadonlyMap<string, number>;
}

function layOut(program: readonly Line[], long: ReadonlySet<Line>): Positions {
  const lines: number[] = [];
  const labels = new Map<string, number>();
  let position = 0;
  for (const line of program) {
    lines.push(position);
    if (line.kind === 'label') {
      if (labels.has(line.name)) throw new Error(`BPF label '${line.name}' is defined twice`);
      labels.set(line.name, position);
    }
    position += sizeOf(line, long);
  }
  lines.push(position);
  return { lines, labels };
}

function sizeOf(line: Line, long: ReadonlySet<Line>): number {
  if (line.kind === 'label') return 0;
  return long.has(line) ? 3 : 1;
}

/** Marks the jumps whose target is out of reach. Each mark moves others, so the caller repeats until it adds none. */
function lengthenJumps(program: readonly Line[], positions: Positions, long: Set<Line>): boolean {
  const before = long.size;
  program.forEach((line, index) => {
    if (line.kind !== 'jump' || long.has(line)) return;
    const from = at(positions, index) + 1;
    if (distance(line.yes, from, index, positions) > MAX_SHORT_JUMP) long.add(line);
    if (distance(line.no, from, index, positions) > MAX_SHORT_JUMP) long.add(line);
  });
  return long.size > before;
}

function encode(line: Line, index: number, positions: Positions, long: ReadonlySet<Line>): Buffer {
  if (line.kind === 'label') return Buffer.alloc(0);
  if (line.kind === 'statement') return instruction(line.code, 0, 0, line.k);
  const start = at(positions, index);
  if (!long.has(line)) {
    const yes = distance(line.yes, start + 1, index, positions);
    const no = distance(line.no, start + 1, index, positions);
    return instruction(line.code, yes, no, line.k);
  }
  return Buffer.concat([
    instruction(line.code, 0, 1, line.k),
    instruction(JUMP_ALWAYS, 0, 0, distance(line.yes, start + 2, index, positions)),
    instruction(JUMP_ALWAYS, 0, 0, distance(line.no, start + 3, index, positions)),
  ]);
}

function distance(target: string | undefined, from: number, index: number, positions: Positions): number {
  const to = target === undefined ? at(positions, index + 1) : positions.labels.get(target);
  if (to === undefined) throw new Error(`BPF label '${target}' is not defined`);
  if (to < from) throw new Error(`BPF jumps only go forward, '${target}' lies behind`);
  return to - from;
}

function at(positions: Positions, index: number): number {
  const position = positions.lines[index];
  if (position === undefined) throw new RangeError(`no line ${index} in the BPF program`);
  return position;
}

/** `struct sock_filter`. Both supported architectures are little-endian. */
function instruction(code: number, yes: number, no: number, k: number): Buffer {
  const bytes = Buffer.alloc(INSTRUCTION_BYTES);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(yes, 2);
  bytes.writeUInt8(no, 3);
  bytes.writeUInt32LE(k, 4);
  return bytes;
}
