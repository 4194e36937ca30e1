/**
 * Turns a program's terminal output into what a person would have seen. The program chooses every byte, so no
 * sequence costs more than the size of the screen. Long input runs in slices, so that this process can do other
 * things in between.
 */
import { LineFolder } from './screen/fold-lines.js';
import { Screen } from './screen/screen.js';
import { paintsScreen } from './screen/sequences.js';

/** How many characters to handle between two looks at the clock, and for how long at a time. */
const sliceLength = 2048;
const sliceMs = 5;

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** Takes text a slice at a time. */
export interface Emulator {
  /** Takes about `length` characters from a position on, whole sequences only. Returns where it stopped. */
  advance(text: string, from: number, length: number): number;
  text(): string;
}

export async function render(raw: Buffer, size: ScreenSize): Promise<string> {
  const { lines, isPlain } = plainLineEnds(raw);
  if (isPlain) return lines.toString('utf8');
  const written = raw.toString('utf8');
  return paintsScreen(written)
    ? emulate(written, new Screen(size))
    : emulate(lines.toString('utf8'), new LineFolder(size.columns));
}

/**
 * The same with `\n` for `\r\n`, and whether it holds nothing but text, tabs and line ends. A loop over bytes, because
 * replacing in a string costs a hundred times as much where lines are short.
 */
function plainLineEnds(raw: Buffer): { lines: Buffer; isPlain: boolean } {
  const lines = Buffer.allocUnsafe(raw.length);
  let length = 0;
  let isPlain = true;
  for (let at = 0; at < raw.length; at++) {
    const byte = raw[at] as number;
    if (byte === 0x0d && raw[at + 1] === 0x0a) continue;
    lines[length++] = byte;
    if (byte >= 0x20 && byte < 0x7f) continue;
    if (byte === 0x09 || byte === 0x0a || (byte > 0x7f && !isC1(raw, at))) continue;
    isPlain = false;
  }
  return { lines: lines.subarray(0, length), isPlain };
}

/** Control characters beyond ASCII, from U+0080 to U+009F. */
function isC1(raw: Buffer, at: number): boolean {
  return raw[at] === 0xc2 && (raw[at + 1] as number) < 0xa0;
}

const switches = [47, 1047, 1049].flatMap((mode) =>
  ['h', 'l'].map((end) => ({ sequence: `\x1b[?${mode}${end}`, on: end === 'h' })),
);

/** Where the program that still shows the alternate screen began to; undefined while it does not. */
export function alternateScreenStart(raw: Buffer): number | undefined {
  let last = { at: -1, on: false };
  for (const { sequence, on } of switches) {
    const at = raw.lastIndexOf(sequence, undefined, 'latin1');
    if (at > last.at) last = { at, on };
  }
  return last.on ? last.at : undefined;
}

async function emulate(text: string, emulator: Emulator): Promise<string> {
  let sliceEnds = performance.now() + sliceMs;
  for (let at = 0; at < text.length; ) {
    at = emulator.advance(text, at, sliceLength);
    if (performance.now() < sliceEnds) continue;
    await new Promise((resolve) => setImmediate(resolve));
    sliceEnds = performance.now() + sliceMs;
  }
  return emulator.text();
}
