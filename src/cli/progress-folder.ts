/** Shows of a line that a program draws again and again, such as a progress bar, its last state only. */

/** A longer line is passed on in pieces. */
const longest = 8192;

export class ProgressFolder {
  #line = '';

  /** What is complete of the text so far. */
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
