/** Applies carriage returns, backspaces and erasing within lines, as progress bars use them; lines have any length. */
import type { Emulator } from '../render.js';
import { readSequence, type Sequence } from './sequences.js';

const plain = /[^\x00-\x08\x0a-\x1f\x7f-\x9f]+/y;

/** Most characters to move or blank one by one; sequences that want more have no effect. */
const mostTouched = 4_000_000;

/** What is further than this from the end of a line stays as it is. */
const longestLine = 65_536;

export class LineFolder implements Emulator {
  readonly #columns: number;
  readonly #pieces: string[] = [];
  #recent: string[] = [];
  #cells: string[] = [];
  #column = 0;
  #touched = 0;

  constructor(columns: number) {
    this.#columns = columns;
  }

  advance(text: string, from: number, length: number): number {
    const until = from + length;
    let at = from;
    while (at < until && at < text.length) {
      const character = text[at] as string;
      if (character === '\x1b') {
        const sequence = readSequence(text, at);
        this.#apply(sequence);
        at = sequence.end;
        continue;
      }
      plain.lastIndex = at;
      const end = plain.test(text) ? Math.min(plain.lastIndex, until) : at;
      if (end > at) {
        this.#print(text, at, end);
        at = end;
        continue;
      }
      if (character === '\n') this.#endLine();
      else if (character === '\r') this.#column = 0;
      else if (character === '\b') this.#column = Math.max(0, this.#column - 1);
      at++;
    }
    this.#pieces.push(this.#recent.join(''));
    this.#recent = [];
    return at;
  }

  text(): string {
    return this.#pieces.join('') + this.#line();
  }

  #print(text: string, from: number, to: number): void {
    while (this.#cells.length < this.#column) this.#cells.push(' ');
    for (let at = from; at < to; at++) this.#cells[this.#column++] = text[at] as string;
    if (this.#cells.length > longestLine && this.#column === this.#cells.length) this.#endLine('');
  }

  #endLine(end = '\n'): void {
    this.#recent.push(this.#line(), end);
    this.#cells = [];
    this.#column = 0;
  }

  #line(): string {
    return this.#cells.join('');
  }

  #apply({ name, parameters: [given = 0] }: Sequence): void {
    const count = Math.max(1, given);
    // The cursor goes as far as the line or the screen does.
    const furthest = Math.max(this.#cells.length, this.#columns - 1);
    if (name === 'C') this.#column = Math.max(this.#column, Math.min(this.#column + count, furthest));
    else if (name === 'D') this.#column = Math.max(0, this.#column - count);
    else if (name === 'G') this.#column = Math.min(count - 1, furthest);
    else if (name === 'P') this.#delete(count);
    else if (name === 'X') this.#blank(this.#column, this.#column + count);
    else if (name === 'K' && given === 0) this.#cells.length = Math.min(this.#cells.length, this.#column);
    else if (name === 'K' && given === 1) this.#blank(0, this.#column + 1);
    else if (name === 'K' && given === 2) this.#cells = [];
  }

  #delete(count: number): void {
    if (this.#mayTouch(this.#cells.length - this.#column)) this.#cells.splice(this.#column, count);
  }

  #blank(from: number, to: number): void {
    const end = Math.min(to, this.#cells.length);
    if (this.#mayTouch(end - from)) this.#cells.fill(' ', from, end);
  }

  #mayTouch(count: number): boolean {
    this.#touched += Math.max(0, count);
    return this.#touched <= mostTouched;
  }
}
