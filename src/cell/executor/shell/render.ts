/** Turns what a program wrote to a terminal into what a person would have seen there. */
import { createRequire } from 'node:module';
import type * as headless from '@xterm/headless';

const require = createRequire(import.meta.url);

/** Whatever is not plain text, a tab or a line end. */
const control = /[\x00-\x08\x0b-\x1f\x7f]/;
/** Sequences that move over the screen or switch to the alternate one; a line at a time cannot show them. */
const screenSequence = /\x1b(?:\[\??[\d;]*[ABEFHJLMSTdfr]|\[\?(?:47|1047|1049)[hl]|[78MDEc])/;
/** Every escape sequence: CSI, the string kinds (OSC, DCS, SOS, PM, APC), and the short ones. */
const escapeSequence = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$)|[ -/]*[0-~]|$)/g;

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

export async function render(raw: Buffer, size: ScreenSize): Promise<string> {
  const text = raw.toString('utf8').replaceAll('\r\n', '\n');
  if (!control.test(text)) return text;
  if (screenSequence.test(text)) return renderScreen(raw, size);
  return text
    .split('\n')
    .map((line) => (control.test(line) ? foldLine(line) : line))
    .join('\n');
}

/** Where the program that still shows the alternate screen began to; undefined while it does not. */
export function alternateScreenStart(raw: Buffer): number | undefined {
  const text = raw.toString('latin1');
  const switches = [...text.matchAll(/\x1b\[\?(?:47|1047|1049)([hl])/g)];
  const last = switches.at(-1);
  return last?.[1] === 'h' ? last.index : undefined;
}

/** Applies carriage returns, backspaces and erasing within one line, as progress bars use them. */
function foldLine(line: string): string {
  let cells: string[] = [];
  let column = 0;
  let position = 0;
  while (position < line.length) {
    const character = line[position] as string;
    if (character === '\x1b') {
      escapeSequence.lastIndex = position;
      const match = escapeSequence.exec(line);
      const sequence = match?.index === position ? match[0] : character;
      ({ cells, column } = applySequence(sequence, cells, column));
      position += sequence.length;
      continue;
    }
    position++;
    if (character === '\r') column = 0;
    else if (character === '\b') column = Math.max(0, column - 1);
    else if (character === '\t' || (character >= ' ' && character !== '\x7f')) {
      while (cells.length < column) cells.push(' ');
      cells[column++] = character;
    }
  }
  return cells.join('');
}

function applySequence(
  sequence: string,
  cells: string[],
  column: number,
): { cells: string[]; column: number } {
  const match = /^\x1b\[(\d*)([CDGKPX])$/.exec(sequence);
  if (match === null) return { cells, column };
  const count = Number(match[1] || 0);
  switch (match[2]) {
    case 'C':
      return { cells, column: column + Math.max(1, count) };
    case 'D':
      return { cells, column: Math.max(0, column - Math.max(1, count)) };
    case 'G':
      return { cells, column: Math.max(0, count - 1) };
    case 'P':
      return { cells: [...cells.slice(0, column), ...cells.slice(column + Math.max(1, count))], column };
    case 'X':
      return {
        cells: cells.map((cell, at) => (at >= column && at < column + Math.max(1, count) ? ' ' : cell)),
        column,
      };
    default:
      if (count === 2) return { cells: [], column };
      if (count === 1) return { cells: cells.map((cell, at) => (at <= column ? ' ' : cell)), column };
      return { cells: cells.slice(0, column), column };
  }
}

/** A real terminal emulator for programs that paint the screen. */
async function renderScreen(raw: Buffer, size: ScreenSize): Promise<string> {
  const { Terminal } = require('@xterm/headless') as typeof headless;
  const terminal = new Terminal({
    cols: size.columns,
    rows: size.rows,
    scrollback: 10_000,
    allowProposedApi: true,
    // What programs print may be anything; the console of whoever uses this is not the place to complain.
    logLevel: 'off',
  });
  try {
    await new Promise<void>((resolve) => terminal.write(raw, resolve));
    const buffer = terminal.buffer.active;
    let text = '';
    const cursorRow = buffer.baseY + buffer.cursorY;
    for (let row = 0; row < buffer.length; row++) {
      const line = buffer.getLine(row);
      if (line === undefined) continue;
      const next = buffer.getLine(row + 1);
      if (next?.isWrapped) text += line.translateToString(false);
      // Where the cursor stands, blanks may be part of a prompt.
      else if (row === cursorRow)
        text += `${line.translateToString(false, 0, Math.max(buffer.cursorX, line.translateToString(true).length))}\n`;
      else text += `${line.translateToString(true).trimEnd()}\n`;
    }
    const visible = text.replace(/\n+$/, '\n');
    return buffer.cursorX > 0 && buffer.getLine(cursorRow + 1) === undefined ? visible.slice(0, -1) : visible;
  } finally {
    terminal.dispose();
  }
}
