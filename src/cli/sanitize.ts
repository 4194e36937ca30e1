/**
 * Makes output of a cell safe to show. It rewrites an allowed list of sequences in their plainest form and drops all
 * others, so nothing else reaches the terminal: no clipboard, title, reports that type themselves, or modes that
 * outlast the command.
 */

/** `terminal` keeps colours and cursor movement; `plain` keeps text and line ends only. */
export type SanitizeMode = 'terminal' | 'plain';

const control = /[\x00-\x1f\x7f-\x9f]/g;

/** Cursor movement, erasing, inserting and deleting, colours. */
const movement = /^\x1b\[[0-9;:]{0,64}[ABCDEFGHLMPSTXdfm@`]$/;
const erasing = /^\x1b\[[012]?[JK]$/;
const cursor = /^\x1b\[\?25[hl]$/;

/** Break off a longer sequence, so that we never hold back more than this. */
const longest = 128;

type State = 'text' | 'escape' | 'sequence' | 'string' | 'string-escape';

/** Cleans a stream piece by piece; it makes no difference where the cuts are. */
export class Sanitizer {
  readonly #terminal: boolean;
  #state: State = 'text';
  /** The part of the control sequence so far. */
  #held = '';
  /** Carriage returns that wait for the next character: drop them before a line end. */
  #returns = false;
  #styled = false;

  constructor(mode: SanitizeMode) {
    this.#terminal = mode === 'terminal';
  }

  write(text: string): string {
    let output = '';
    let position = 0;
    while (position < text.length) {
      if (this.#state === 'text') {
        control.lastIndex = position;
        const next = control.exec(text)?.index ?? text.length;
        if (next > position) output += this.#flushReturn() + text.slice(position, next);
        if (next < text.length) output += this.#text(text.charAt(next));
        position = next + 1;
      } else {
        output += this.#inSequence(text.charAt(position));
        position++;
      }
    }
    return output;
  }

  /** The text to write at the end: colours off and the cursor visible, if the output changed them. */
  end(): string {
    const output = this.#flushReturn();
    return this.#styled ? `${output}\x1b[0m\x1b[?25h` : output;
  }

  #flushReturn(): string {
    if (!this.#returns) return '';
    this.#returns = false;
    return '\r';
  }

  /** A control character outside of any sequence. */
  #text(character: string): string {
    switch (character) {
      case '\x1b':
        this.#state = 'escape';
        return '';
      case '\x9b':
        this.#begin('sequence');
        return '';
      case '\x90':
      case '\x98':
      case '\x9d':
      case '\x9e':
      case '\x9f':
        this.#state = 'string';
        return '';
      case '\r':
        if (this.#terminal) return character;
        this.#returns = true;
        return '';
      case '\n':
        this.#returns = false;
        return character;
      case '\t':
        return this.#flushReturn() + character;
      case '\b':
      case '\x07':
        return this.#terminal ? character : '';
      default:
        return '';
    }
  }

  #inSequence(character: string): string {
    switch (this.#state) {
      case 'escape':
        return this.#afterEscape(character);
      case 'sequence':
        return this.#inControlSequence(character);
      case 'string-escape':
        this.#state = 'text';
        return character === '\\' ? '' : this.#afterEscape(character);
      default:
        return this.#inString(character);
    }
  }

  #afterEscape(character: string): string {
    this.#state = 'text';
    if (character === '[') this.#begin('sequence');
    else if (']PX^_'.includes(character)) this.#state = 'string';
    // ESC with an intermediate, such as a choice of character set, has one more character to drop.
    else if (character >= ' ' && character <= '/') this.#state = 'escape';
    else if (character < ' ' || character > '~') return this.#recover(character);
    return '';
  }

  #begin(state: State): void {
    this.#state = state;
    this.#held = '\x1b[';
  }

  #inControlSequence(character: string): string {
    if (character < ' ' || character > '~' || this.#held.length >= longest) return this.#recover(character);
    this.#held += character;
    if (character < '@') return '';
    this.#state = 'text';
    const allowed = movement.test(this.#held) || erasing.test(this.#held) || cursor.test(this.#held);
    // To the first column, or a line erased: for text without a cursor these are returns.
    if (!this.#terminal) return /^\x1b\[(?:[01]?G|2K)$/.test(this.#held) ? this.#text('\r') : '';
    if (!allowed) return '';
    this.#styled ||= character === 'm' || character === 'l';
    return this.#held;
  }

  /**
   * The string of a sequence ends at its terminator, and also at a line end, so that a broken one does not swallow
   * everything that follows.
   */
  #inString(character: string): string {
    if (character === '\x1b') this.#state = 'string-escape';
    else if ('\x07\x18\x1a\x9c'.includes(character)) this.#state = 'text';
    else if (character === '\n') return this.#recover(character);
    return '';
  }

  /** Abandons a malformed sequence and takes the character as ordinary. */
  #recover(character: string): string {
    this.#state = 'text';
    control.lastIndex = 0;
    return control.test(character) ? this.#text(character) : this.#flushReturn() + character;
  }
}

/** A single text, such as a message, without any control but line ends. */
export function plainText(text: string): string {
  const sanitizer = new Sanitizer('plain');
  return sanitizer.write(text) + sanitizer.end();
}
