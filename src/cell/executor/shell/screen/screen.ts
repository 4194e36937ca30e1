/**
 * A screen for programs that paint it: its content, and what scrolled off its top. It understands what full-screen
 * programs and progress displays use; other features of a terminal do not show in text.
 */

import type { Emulator, ScreenSize } from '../render.js';
import { type Cursor, Grid } from './grid.js';
import { readSequence, type Sequence } from './sequences.js';

const printable = /[^\x00-\x1f\x7f-\x9f]+/y;

/** The line drawing characters, which some programs reach by a second set of characters, from ` to ~. */
const drawing = '◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·';

/** Most characters from sequences that repeat the previous character. */
const mostRepeated = 1_000_000;

interface Given {
  /** The first parameter as a number of times. */
  readonly count: number;
  /** The parameters as they are; 0 for one that is missing. */
  readonly first: number;
  readonly second: number;
}

/** What a sequence does to the grid, by its name. Positions count from 1, and 0 means the same. */
const operations: Readonly<Partial<Record<string, (grid: Grid, given: Given) => void>>> = {
  A: (grid, { count }) => grid.moveBy(-count, 0),
  B: (grid, { count }) => grid.moveBy(count, 0),
  e: (grid, { count }) => grid.moveBy(count, 0),
  C: (grid, { count }) => grid.moveBy(0, count),
  a: (grid, { count }) => grid.moveBy(0, count),
  D: (grid, { count }) => grid.moveBy(0, -count),
  E: (grid, { count }) => grid.moveTo(grid.cursor.row + count, 0),
  F: (grid, { count }) => grid.moveTo(grid.cursor.row - count, 0),
  G: (grid, { first }) => grid.moveTo(grid.cursor.row, first - 1),
  '`': (grid, { first }) => grid.moveTo(grid.cursor.row, first - 1),
  H: (grid, { first, second }) => grid.moveTo(first - 1, second - 1),
  f: (grid, { first, second }) => grid.moveTo(first - 1, second - 1),
  I: (grid, { count }) => grid.moveTo(grid.cursor.row, nextTab(grid.cursor.column, count)),
  Z: (grid, { count }) => grid.moveTo(grid.cursor.row, (Math.ceil(grid.cursor.column / 8) - count) * 8),
  d: (grid, { first }) => grid.moveTo(first - 1, grid.cursor.column),
  J: (grid, { first }) => grid.eraseScreen(first),
  K: (grid, { first }) => grid.eraseLine(first),
  X: (grid, { count }) => grid.blank(count),
  P: (grid, { count }) => grid.deleteCells(count),
  '@': (grid, { count }) => grid.insertCells(count),
  L: (grid, { count }) => grid.insertLines(count),
  M: (grid, { count }) => grid.deleteLines(count),
  S: (grid, { count }) => grid.scrollUp(count),
  T: (grid, { count }) => grid.scrollDown(count),
  r: (grid, { first, second }) => grid.setRegion(first - 1, second === 0 ? Infinity : second - 1),
  '\x1bM': (grid) => grid.reverseFeed(),
  '\x1bD': (grid) => grid.lineFeed(),
  '\x1bE': (grid) => {
    grid.lineFeed();
    grid.moveTo(grid.cursor.row, 0);
  },
};

export class Screen implements Emulator {
  readonly #columns: number;
  readonly #rows: number;
  readonly #main: Grid;
  #grid: Grid;
  #saved: Cursor | undefined;
  #beforeAlternate: Cursor | undefined;
  #wraps = true;
  #inserts = false;
  #draws = false;
  #last = '';
  #repeated = 0;

  constructor({ columns, rows }: ScreenSize) {
    this.#columns = columns;
    this.#rows = rows;
    this.#main = new Grid(columns, rows, true);
    this.#grid = this.#main;
  }

  advance(text: string, from: number, length: number): number {
    const until = from + length;
    let at = from;
    while (at < until && at < text.length) {
      if (text[at] === '\x1b') {
        const sequence = readSequence(text, at);
        this.#apply(sequence);
        at = sequence.end;
        continue;
      }
      printable.lastIndex = at;
      const end = printable.test(text) ? Math.min(printable.lastIndex, wholeEnd(text, until)) : at;
      if (end > at) {
        this.#print(text.slice(at, end));
        at = end;
      } else this.#control(text[at++] as string);
    }
    this.#main.settle();
    return at;
  }

  text(): string {
    return this.#grid.text();
  }

  #print(text: string): void {
    for (const character of text) {
      const shown = this.#draws ? drawn(character) : character;
      this.#last = shown;
      this.#grid.put(shown, { wraps: this.#wraps, inserts: this.#inserts });
    }
  }

  #control(character: string): void {
    const grid = this.#grid;
    const { row, column } = grid.cursor;
    if (character === '\r') grid.moveTo(row, 0);
    else if (character === '\n' || character === '\v' || character === '\f') grid.lineFeed();
    else if (character === '\b') grid.moveBy(0, -1);
    else if (character === '\t') grid.moveTo(row, nextTab(column, 1));
    else if (character === '\x0e') this.#draws = true;
    else if (character === '\x0f') this.#draws = false;
  }

  #apply({ name, parameters }: Sequence): void {
    const [first = 0, second = 0] = parameters;
    // Repeat nothing more often than the screen has places for it.
    const count = Math.min(Math.max(1, first), Math.max(this.#columns, this.#rows));
    const operation = operations[name];
    if (operation !== undefined) operation(this.#grid, { count, first, second });
    else if (name === 'b') this.#repeat(count);
    else if (name === 's' || name === '\x1b7') this.#saved = { ...this.#grid.cursor };
    else if (name === 'u' || name === '\x1b8')
      this.#grid.moveTo(this.#saved?.row ?? 0, this.#saved?.column ?? 0);
    else if (name === '\x1b(0' || name === '\x1b(B') this.#draws = name === '\x1b(0';
    else if (name === '\x1bc') this.#reset();
    else if ((name === 'h' || name === 'l') && first === 4) this.#inserts = name === 'h';
    else if (name === '?h' || name === '?l')
      for (const mode of parameters) this.#setMode(mode, name === '?h');
  }

  #setMode(mode: number, on: boolean): void {
    if (mode === 7) this.#wraps = on;
    if (mode !== 47 && mode !== 1047 && mode !== 1049) return;
    if (on && this.#grid === this.#main) {
      this.#beforeAlternate = { ...this.#main.cursor };
      this.#grid = new Grid(this.#columns, this.#rows, false);
      this.#grid.moveTo(this.#beforeAlternate.row, this.#beforeAlternate.column);
    } else if (!on && this.#grid !== this.#main) {
      const { row, column } = mode === 1049 ? (this.#beforeAlternate as Cursor) : this.#grid.cursor;
      this.#grid = this.#main;
      this.#grid.moveTo(row, column);
    }
  }

  #repeat(count: number): void {
    this.#repeated += count;
    if (this.#last !== '' && this.#repeated <= mostRepeated) {
      for (let done = 0; done < count; done++)
        this.#grid.put(this.#last, { wraps: this.#wraps, inserts: this.#inserts });
    }
  }

  #reset(): void {
    this.#setMode(1047, false);
    this.#grid.setRegion(0, this.#rows - 1);
    this.#grid.eraseScreen(2);
    this.#saved = undefined;
    this.#wraps = true;
    this.#inserts = false;
    this.#draws = false;
  }
}

/** The column that this many tabs lead to. */
function nextTab(column: number, count: number): number {
  return (Math.floor(column / 8) + count) * 8;
}

function drawn(character: string): string {
  return drawing[character.charCodeAt(0) - 0x60] ?? character;
}

/** Do not cut a surrogate pair in two. */
function wholeEnd(text: string, end: number): number {
  const unit = text.charCodeAt(end - 1);
  return unit >= 0xd800 && unit < 0xdc00 ? end + 1 : end;
}
