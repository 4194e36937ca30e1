/** Shows only the last state of a line that a program draws again and again, such as a progress bar. */

/** Passes a longer line on in pieces. */
const longest = 8192;

export class ProgressFolder {
  #line = '';

  /** Returns the complete part of the text so far. */
  write(text: string): string {
    const [first = '', ...more] = text.split('\n');
    const lines = [this.#line + first, ...more].map(lastState);
    this.#line = lines.pop() ?? '';
    const whole = lines.map((line) => `${line}\n`).join('');
    return this.#line.length > longest ? whole + this.end() : whole;
  }

  end(): string {
    const rest = this.#line.replace(/\r$/, '');
    this.#line = '';
    return rest;
  }
}

/** A return at the very end has overwritten nothing yet. */
function lastState(line: string): string {
  return line.slice(line.lastIndexOf('\r', line.length - 2) + 1);
}
