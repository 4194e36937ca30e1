/** The characters on a screen, and the cursor. No operation costs more than the size of the screen. */

export interface Cursor {
  readonly row: number;
  readonly column: number;
}

interface Line {
  /** One character each; the second place of a wide one is empty. A line can be shorter than the screen. */
  readonly cells: string[];
  /** Continues the text of the line above, because the screen is no wider. */
  isContinuation: boolean;
}

/** Marks that belong to the character before them. */
const joining = /^(?:\p{M}|[\u200b-\u200f\u2060])$/u;
const wide =
  /^[\u1100-\u115f\u231a\u231b\u23e9-\u23ec\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]$/u;

/** A character takes at most this many combining marks, which is more than any text needs. */
const longestCell = 16;

export class Grid {
  readonly #columns: number;
  readonly #rows: number;
  readonly #keepsHistory: boolean;
  #lines: Line[];
  #row = 0;
  /** Equal to the width when the next character goes to the next line. */
  #column = 0;
  #top = 0;
  #bottom: number;
  readonly #history: string[] = [];
  #scrolledOff: string[] = [];

  constructor(columns: number, rows: number, keepsHistory: boolean) {
    this.#columns = columns;
    this.#rows = rows;
    this.#keepsHistory = keepsHistory;
    this.#bottom = rows - 1;
    this.#lines = Array.from({ length: rows }, emptyLine);
  }

  get cursor(): Cursor {
    return { row: this.#row, column: this.#column };
  }

  put(character: string, { wraps, inserts }: { wraps: boolean; inserts: boolean }): void {
    // Most output is ASCII, which is neither wide nor joins the character before it.
    const code = character.charCodeAt(0);
    if (code >= 0x300 && joining.test(character)) {
      this.#join(character);
      return;
    }
    const width = code >= 0x1100 && wide.test(character) ? 2 : 1;
    if (this.#column + width > this.#columns) {
      if (wraps) {
        this.lineFeed();
        this.#line.isContinuation = true;
        this.#column = 0;
      } else this.#column = Math.max(0, this.#columns - width);
    }
    if (inserts) this.insertCells(width);
    const { cells } = this.#line;
    while (cells.length < this.#column) cells.push(' ');
    this.#split(this.#column);
    this.#split(this.#column + width);
    cells[this.#column++] = character;
    if (width === 2) cells[this.#column++] = '';
  }

  moveTo(row: number, column: number): void {
    this.#row = clamp(row, this.#rows - 1);
    this.#column = clamp(column, this.#columns - 1);
  }

  moveBy(rows: number, columns: number): void {
    this.moveTo(this.#row + rows, Math.min(this.#column, this.#columns - 1) + columns);
  }

  /** Keeps the line that scrolls off the top of the screen. */
  lineFeed(): void {
    if (this.#row === this.#bottom) {
      if (this.#keepsHistory && this.#top === 0) this.#scrolledOff.push(this.#lineText(0));
      this.scrollUp(1);
    } else if (this.#row < this.#rows - 1) this.#row++;
    this.#line.isContinuation = false;
  }

  reverseFeed(): void {
    if (this.#row === this.#top) this.scrollDown(1);
    else if (this.#row > 0) this.#row--;
  }

  /** Only these rows scroll. */
  setRegion(top: number, bottom: number): void {
    const first = clamp(top, this.#rows - 1);
    const last = clamp(bottom, this.#rows - 1);
    if (first >= last) return;
    this.#top = first;
    this.#bottom = last;
    this.moveTo(0, 0);
  }

  scrollUp(count: number): void {
    this.#shift(this.#top, this.#bottom, count);
  }

  scrollDown(count: number): void {
    this.#shift(this.#bottom, this.#top, count);
  }

  insertLines(count: number): void {
    if (this.#row >= this.#top && this.#row <= this.#bottom) this.#shift(this.#bottom, this.#row, count);
  }

  deleteLines(count: number): void {
    if (this.#row >= this.#top && this.#row <= this.#bottom) this.#shift(this.#row, this.#bottom, count);
  }

  /** 0: from the cursor on. 1: up to it. 2: all. 3: what scrolled off. */
  eraseScreen(part: number): void {
    if (part === 3) {
      this.#history.length = 0;
      this.#scrolledOff = [];
    }
    if (part > 2) return;
    const from = part === 0 ? this.#row + 1 : 0;
    const to = part === 1 ? this.#row : this.#rows;
    for (let row = from; row < to; row++) this.#lines[row] = emptyLine();
    if (part < 2) this.eraseLine(part);
  }

  eraseLine(part: number): void {
    const { cells } = this.#line;
    const column = Math.min(this.#column, this.#columns - 1);
    if (part !== 0 || column === 0) this.#line.isContinuation = false;
    if (part === 0) {
      this.#split(column);
      cells.length = Math.min(cells.length, column);
    } else if (part === 1) {
      this.#split(column + 1);
      cells.fill(' ', 0, Math.min(cells.length, column + 1));
    } else if (part === 2) cells.length = 0;
  }

  blank(count: number): void {
    const { cells } = this.#line;
    const end = Math.min(this.#column + count, cells.length);
    this.#split(this.#column);
    this.#split(end);
    cells.fill(' ', Math.min(this.#column, end), end);
  }

  deleteCells(count: number): void {
    this.#split(this.#column);
    this.#split(this.#column + count);
    this.#line.cells.splice(this.#column, count);
  }

  insertCells(count: number): void {
    const { cells } = this.#line;
    if (cells.length <= this.#column) return;
    this.#split(this.#column);
    const length = Math.min(cells.length + count, this.#columns);
    const moved = Math.min(this.#column + count, length);
    while (cells.length < length) cells.push(' ');
    for (let at = length - 1; at >= moved; at--) cells[at] = cells[at - moved + this.#column] as string;
    cells.fill(' ', this.#column, moved);
    // A wide character whose second half moved off the screen.
    if (wide.test(cells.at(-1) ?? '')) cells[length - 1] = ' ';
  }

  /** Joins what scrolled off since the last time, so that no later step has to join all of it at once. */
  settle(): void {
    if (this.#scrolledOff.length > 0) this.#history.push(this.#scrolledOff.join(''));
    this.#scrolledOff = [];
  }

  /** All lines down to the last that shows something; the blanks between its text and the cursor count. */
  text(): string {
    this.settle();
    let last = this.#rows - 1;
    while (last >= 0 && isBlank(this.#lines[last] as Line) && !(last === this.#row && this.#column > 0))
      last--;
    let text = this.#history.join('');
    for (let row = 0; row < last; row++) text += this.#lineText(row);
    const line = this.#lines[last];
    if (line === undefined) return text;
    const shown = cellsText(line.cells).trimEnd();
    return text + (last === this.#row ? shown.padEnd(this.#lengthBefore(line)) : `${shown}\n`);
  }

  #lineText(row: number): string {
    const text = cellsText((this.#lines[row] as Line).cells);
    return this.#lines[row + 1]?.isContinuation ? text : `${text.trimEnd()}\n`;
  }

  get #line(): Line {
    return this.#lines[this.#row] as Line;
  }

  /** How long a line is up to the cursor. */
  #lengthBefore({ cells }: Line): number {
    return cellsText(cells.slice(0, this.#column)).length;
  }

  /** Takes rows away at one end of a range, and puts as many empty ones in at the other. */
  #shift(from: number, to: number, count: number): void {
    const first = Math.min(from, to);
    const end = Math.max(from, to) + 1;
    const rows = Math.min(count, end - first);
    // A loop, because the engine's own ways to move a part of an array cost many times as much.
    const lines = this.#lines;
    if (from < to) for (let row = first; row < end - rows; row++) lines[row] = lines[row + rows] as Line;
    else for (let row = end - 1; row >= first + rows; row--) lines[row] = lines[row - rows] as Line;
    const emptied = from < to ? end - rows : first;
    for (let row = emptied; row < emptied + rows; row++) lines[row] = emptyLine();
  }

  /** Blanks a wide character that has one half on each side of a column. */
  #split(column: number): void {
    const { cells } = this.#line;
    if (cells[column] !== '') return;
    cells[column] = ' ';
    cells[column - 1] = ' ';
  }

  #join(mark: string): void {
    const { cells } = this.#line;
    const at = cells[this.#column - 1] === '' ? this.#column - 2 : this.#column - 1;
    const before = cells[at];
    if (before !== undefined && before.length < longestCell) cells[at] = before + mark;
  }
}

function emptyLine(): Line {
  return { cells: [], isContinuation: false };
}

function isBlank({ cells }: Line): boolean {
  return cells.every((cell) => cell === ' ');
}

function cellsText(cells: readonly string[]): string {
  return cells.join('');
}

function clamp(value: number, most: number): number {
  return Math.max(0, Math.min(value, most));
}
